-- External authentication: asks a service, over a frontend of this very HAProxy, whether a request may pass.
--
-- `http-request lua.external-auth SOCKET BACKEND HOST METHOD PATH MILLIS SENDS COPIES SIGN-IN`, `-` for none. Only a clear yes
-- sets `txn.auth_passed`; a rule behind this one answers everything else with 503, an error in here too, since HAProxy goes on
-- with the next rule after one (2.2 to 3.4). Nothing is kept between requests, no value is logged.

-- A body behind a refusal is passed on up to this size, if its length was announced.
local LONGEST_BODY = 8192
-- HAProxy's own limits of a head are lower by default.
local MOST_LINES, LONGEST_HEAD = 256, 65536

-- Headers that are about one connection or about a body that is not sent.
local OF_CONNECTION = {
  ["connection"] = true, ["content-length"] = true, ["expect"] = true, ["host"] = true, ["http2-settings"] = true,
  ["keep-alive"] = true, ["proxy-connection"] = true, ["te"] = true, ["trailer"] = true, ["transfer-encoding"] = true,
  ["upgrade"] = true,
}

-- Headers that say who asks for what: never as the client sent them. X-Forwarded-Proto, -Host and -Port are the
-- frontend's, which decides whom to believe.
local ABOUT_REQUEST = {
  ["x-auth-request-redirect"] = true, ["x-original-method"] = true, ["x-original-uri"] = true, ["x-original-url"] = true,
  ["x-real-ip"] = true, ["x-outrigger-auth-backend"] = true,
}
local OF_FRONTEND = { "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port" }

local function names(list)
  local set = {}
  for name in list:gmatch("[^,]+") do set[name] = true end
  return set
end

-- What a header line and a URL can hold; HAProxy lets more through in paths than RFC 3986 allows.
local function clean(text)
  return (tostring(text):gsub("[^%w%-._~:/?#%[%]@!$&'()*+,;=%%]", function(c) return ("%%%02X"):format(c:byte()) end))
end

local function escape(text)
  return (text:gsub("[^%w%-._~]", function(c) return ("%%%02X"):format(c:byte()) end))
end

-- The request as the client sent it: rules that rewrite run later, and `txn.path` was read before all of them.
local function original(txn, headers)
  local first = function(name) return headers[name] and headers[name][0] end
  local path, query = txn:get_var("txn.path") or txn.sf:path(), txn.sf:query()
  local uri = clean(path or "/") .. (query and query ~= "" and "?" .. clean(query) or "")
  local scheme = first("x-forwarded-proto") or "http"
  local http_host = clean(first("x-forwarded-host") or first("host") or "")
  local url = clean(scheme) .. "://" .. http_host .. uri
  return {
    scheme = clean(scheme), host = clean(txn:get_var("txn.host") or http_host), httphost = http_host, uri = uri,
    path = clean(path or "/"), url = url, escapeduri = escape(uri), escapedurl = escape(url),
  }
end

-- The head of the request to the service.
local function head_for(txn, headers, from, backend, host, method, path, sends)
  local lines = { method .. " " .. path .. " HTTP/1.1", "host: " .. host, "connection: close" }
  local function add(name, value)
    value = tostring(value)
    if not value:find("[%c]") then lines[#lines + 1] = name .. ": " .. value end
  end
  add("x-outrigger-auth-backend", backend)
  add("x-original-url", from.url)
  add("x-original-method", txn.sf:method())
  add("x-original-uri", from.uri)
  add("x-auth-request-redirect", from.uri)
  local source = txn.sf:src()
  if source then add("x-real-ip", source) end
  if method ~= "GET" and method ~= "HEAD" then add("content-length", "0") end

  local all, some = sends == "*", names(sends)
  for _, name in ipairs(OF_FRONTEND) do some[name] = true end
  local forwarded = {}
  for name, values in pairs(headers) do
    name = name:lower()
    if (all or some[name]) and not OF_CONNECTION[name] and not ABOUT_REQUEST[name] then
      for i = 0, #values do
        if name == "x-forwarded-for" then
          forwarded[#forwarded + 1] = values[i]
        elseif values[i] then
          add(name, values[i])
        end
      end
    end
  end
  -- The frontends add the client only when the request leaves for the pod.
  if source then forwarded[#forwarded + 1] = tostring(source) end
  add("x-forwarded-for", table.concat(forwarded, ", "))
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Sends the question and reads the answer whole before the deadline: status, headers as a list of pairs, body. `nil` for
-- whatever is not an answer.
local function exchange(tcp, socket, head, method, millis)
  local start = core.now()
  local function left()
    local now = core.now()
    return millis / 1000 - (now.sec - start.sec) - (now.usec - start.usec) / 1000000
  end
  local function receive(what)
    local rest = left()
    if rest <= 0 then return nil end
    tcp:settimeout(rest)
    return (tcp:receive(what))
  end

  tcp:settimeout(millis / 1000)
  if not tcp:connect(socket) or not tcp:send(head) then
    return nil
  end
  local status = (receive("*l") or ""):match("^HTTP/1%.[01] (%d%d%d)[ \r]?")
  if not status then return nil end
  local headers, size, length, framed = {}, 0, 0, false
  for count = 1, MOST_LINES + 1 do
    local line = receive("*l")
    if not line or count > MOST_LINES then return nil end
    line = line:gsub("\r$", "")
    size = size + #line
    if size > LONGEST_HEAD then return nil end
    if line == "" then break end
    local name, value = line:match("^([%w!#$%%&'*+%-.^_`|~]+):[ \t]*(.-)[ \t]*$")
    if not name or value:find("[%z\r\n]") then return nil end
    name = name:lower()
    if name == "transfer-encoding" then framed = true end
    if name == "content-length" then length = tonumber(value:match("^%d+$")) or 0 end
    if not OF_CONNECTION[name] then headers[#headers + 1] = { name, value } end
  end
  local body = ""
  if not framed and length > 0 and length <= LONGEST_BODY and method ~= "HEAD" then
    body = receive(length) or ""
    if #body ~= length then return nil end
  end
  return tonumber(status), headers, body
end

local function ask(...)
  local tcp = core.tcp()
  local status, headers, body = exchange(tcp, ...)
  -- Else the connection stays until the garbage is collected.
  tcp:close()
  return status, headers, body
end

local function answer(txn, status, headers, body)
  local reply = txn:reply{ status = status }
  for _, header in ipairs(headers) do reply:add_header(header[1], header[2]) end
  if body ~= "" then reply:set_body(body) end
  txn:done(reply)
end

local function external_auth(txn, socket, backend, host, method, path, millis, sends, copies, sign_in)
  local headers = txn.http:req_get_headers()
  local from = original(txn, headers)
  local copied = names(copies == "-" and "" or copies)
  -- Before anything can fail: the pod must never take a client's word for the service's.
  for name in pairs(copied) do txn.http:req_del_header(name) end

  local head = head_for(txn, headers, from, backend, host, method, path, sends)
  local status, found, body = ask(socket, head, method, tonumber(millis))
  if status and status >= 200 and status < 300 then
    local cookies = {}
    for _, header in ipairs(found) do
      if copied[header[1]] then txn.http:req_add_header(header[1], header[2]) end
      if header[1] == "set-cookie" then cookies[#cookies + 1] = header[2] end
    end
    if #cookies > 0 then txn:set_var("txn.auth_cookies", table.concat(cookies, "\n")) end
    txn:set_var("txn.auth_passed", "yes")
  elseif status == 401 and sign_in ~= "-" then
    local reply = { { "location", (sign_in:gsub("{(%l+)}", from)) } }
    for _, header in ipairs(found) do
      if header[1] == "set-cookie" then reply[#reply + 1] = header end
    end
    answer(txn, 302, reply, "")
  elseif status == 401 or status == 403 then
    answer(txn, status, found, body)
  end
end

core.register_action("external-auth", { "http-req" }, external_auth, 9)

-- Cookies that the service sets on a request that passes, such as a session that it renews.
core.register_action("external-auth-cookies", { "http-res" }, function(txn)
  for value in (txn:get_var("txn.auth_cookies") or ""):gmatch("[^\n]+") do
    txn.http:res_add_header("set-cookie", value)
  end
end)
