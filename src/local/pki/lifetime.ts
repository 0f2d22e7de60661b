/** The lifetime of certificates that the CAs of a control plane sign. */
export const CERTIFICATE_DAYS = 365;
