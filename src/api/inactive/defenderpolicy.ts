/** The fields of a DefenderPolicy that the Defender does not act on, or only in one policy. */
import { FLEET_DEFAULT } from '../names.ts';
import type { InactiveField } from './field.ts';

const ONE_POLICY = `rules are enforced in the waves of ${FLEET_DEFAULT}, for the whole cluster`;
const IN_FLEET_DEFAULT = ['metadata.name', FLEET_DEFAULT] as const;
const COMMON_CAUSE = ['type', 'CommonCause'] as const;

export const DEFENDER_POLICY: readonly InactiveField[] = [
  {
    path: 'spec.ruleWaves.waves',
    accepts: [[1, '5%', '20%', '100%']],
    because: ONE_POLICY,
    whenNotAt: IN_FLEET_DEFAULT,
  },
  { path: 'spec.ruleWaves.soakSeconds', accepts: [1800], because: ONE_POLICY, whenNotAt: IN_FLEET_DEFAULT },
  {
    path: 'spec.ruleWaves.minSuccessPercent',
    accepts: [90],
    because: ONE_POLICY,
    whenNotAt: IN_FLEET_DEFAULT,
  },
  {
    path: 'spec.breakers[].per',
    accepts: ['Cluster'],
    when: COMMON_CAUSE,
    because: 'a common cause is searched in the whole cluster',
  },
  {
    path: 'spec.breakers[].per',
    accepts: ['Cluster', 'Zone', 'Pool'],
    when: ['type', 'IndeterminateRatio'],
    because: 'unknown facts are those of machines, and not of a holder',
  },
];
