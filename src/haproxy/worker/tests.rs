mod certificates;
mod maps;
mod servers;
