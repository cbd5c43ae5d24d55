//! Two layouts of one struct compared.
