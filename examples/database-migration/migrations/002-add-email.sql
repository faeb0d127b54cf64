alter table customers add column email text;
create index customers_email on customers (email);
