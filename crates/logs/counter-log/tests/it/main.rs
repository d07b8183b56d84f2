mod database;
