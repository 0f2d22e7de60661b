/** How long an agent may be silent. No npm package here. */

/** Agents renew their Leases this often. */
export const HEARTBEAT_MS = 10_000;
/** The duration of the Lease that agents renew: four heartbeats may be missed. */
export const LEASE_SECONDS = 40;
/** A Lease that did not change for this long, which is more than its duration, is that of a dead agent. */
export const SILENT_MS = 45_000;
