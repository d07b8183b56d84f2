mod pcq;
mod perflib_v1;
mod rrp;
