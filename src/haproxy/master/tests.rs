mod real;
mod scripted;
