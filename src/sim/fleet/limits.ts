/** The limits of the simulated hub. */
export const FLEET_LIMITS = {
  clusters: 3,
  regions: 2,
  reboots: 6,
  windowSeconds: 3600,
  allowanceSeconds: 300,
  failingClusters: 2,
  failedWithinSeconds: 7200,
  holdSeconds: 7200,
};
