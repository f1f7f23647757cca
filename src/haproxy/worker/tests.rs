mod certificates;
mod lists;
mod maps;
mod servers;
