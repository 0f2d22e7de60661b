/**
 * Returns the query of Leases whose holder changed more than three times within an hour. The epoch is in the Lease: a process that ends
 * when it has lost it could not tell that itself. An upgrade changes the holder once or twice.
 */
export function leaseFlaps(selector: string): string {
  const epoch = `kubenode_lease_epoch${selector}[1h]`;
  return `max by (lease) (max_over_time(${epoch})) - min by (lease) (min_over_time(${epoch})) > 3`;
}
