import { NAMESPACE } from '../../api/names.ts';

/** The Lease of the hub whose holder hands out allowances. */
export const FLEET_LIMITS_LEASE = { namespace: NAMESPACE, name: 'fleet-limits' } as const;
