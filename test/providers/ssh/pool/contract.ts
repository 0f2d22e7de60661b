/** The contract of provider ssh: hosts of a pool on an API server in memory. */
import { PROVIDER_REGISTRY } from '../../../../src/providers/registry.ts';
import { type ContractProvider, noFaults } from '../../contract/harness.ts';
import { hosts, NO_CLOUD, poolBed, poolObject } from './bed.ts';

const LABELS = { disk: 'nvme' };

export const SSH_CONTRACT: ContractProvider = {
  entry: PROVIDER_REGISTRY.ssh,
  accepted: {
    'a host of a pool': { config: { pool: 'rack7' }, host: 'systemd' },
    'a host with labels in a zone': {
      config: { pool: 'rack7', selector: LABELS },
      host: 'systemd',
      zone: 'a',
    },
  },
  refused: {
    'an unknown field': [{ config: { pol: 'rack7' }, host: 'systemd' }, 'unknown field "pol"'],
    'a pool that is not a name': [
      { config: { pool: '../x' }, host: 'systemd' },
      'expected the name of a pool',
    ],
    'no pool beside a selector': [
      { config: { selector: {} }, host: 'systemd' },
      'expected the name of a pool',
    ],
    'a selector that is not an object': [
      { config: { pool: 'rack7', selector: 'disk' }, host: 'systemd' },
      'expected at most 16 labels',
    ],
    'labels that are numbers or flags': [
      { config: { pool: 'rack7', selector: { disk: true } }, host: 'systemd' },
      'expected at most 16 labels',
    ],
    'a sandbox': [{ config: { pool: 'rack7' }, host: 'sandbox' }, 'expected systemd'],
    'a zone that is too long': [
      { config: { pool: 'rack7' }, host: 'systemd', zone: 'z'.repeat(64) },
      'expected at most 63 characters',
    ],
  },
  failures: ['Quota', 'Auth', 'Retryable'],
  withoutFaults: noFaults(NO_CLOUD),
  withoutAccount: NO_CLOUD,
  open: () =>
    Promise.resolve(
      poolBed(poolObject('rack7', { hosts: hosts(12, () => ({ zone: 'a', labels: LABELS })) })),
    ),
};
