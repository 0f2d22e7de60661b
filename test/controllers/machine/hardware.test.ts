import { describe, expect, it } from 'vitest';
import type { Machine, MachineImport } from '../../../src/api/generated/types.ts';
import { planHardwareLabel } from '../../../src/controllers/machine/hardware.ts';
import { ago, type MachineParts, machine } from '../../support/builders.ts';

const KEY = 'kubenode.dev/hardware';
const UUID = '4c4c4544-0044-4210-8031-b7c04f4e3232';
const PREFLIGHT = { at: ago(60) };
const POOLED = { infra: { provider: 'ssh', config: { pool: 'rack7' } } } as const;
const IMPORTED = { import: {} as MachineImport };

function labelOf(parts: MachineParts, name = 'm'): string | undefined {
  const [operation] = planHardwareLabel(machine(name, parts));
  const value = operation?.value as string | Readonly<Record<string, string>> | undefined;
  return typeof value === 'object' ? value[KEY] : value;
}

function bmcOf(systemUUID: string): NonNullable<Machine['spec']['bmc']> {
  return { systemUUID } as NonNullable<Machine['spec']['bmc']>;
}

const ofUuid = labelOf({ status: { import: { systemUUID: UUID } } });
const ofProvider = labelOf({ status: { infra: { providerID: 'ssh://10.4.7.3' } } });

describe('the label of the hardware', () => {
  it('R26 is a hash that is the same for each Machine that the host becomes', () => {
    expect(ofUuid).toMatch(/^[0-9a-f]{16}$/);
    expect(ofProvider).toMatch(/^[0-9a-f]{16}$/);
    expect(ofUuid).not.toBe(ofProvider);
    expect(labelOf({ status: { import: { systemUUID: UUID } } }, 'other')).toBe(ofUuid);
  });

  it.each<[string, MachineParts, string | undefined]>([
    [
      'the UUID of the preflight in capitals',
      { status: { import: { systemUUID: UUID.toUpperCase() } } },
      ofUuid,
    ],
    ['the UUID that is declared for its BMC', { spec: { bmc: bmcOf(UUID) } }, ofUuid],
    [
      'the declared UUID before the one that the host reports',
      {
        spec: { bmc: bmcOf(UUID) },
        status: { import: { systemUUID: UUID.replace('4c', '5c') }, infra: { providerID: 'x' } },
      },
      ofUuid,
    ],
    [
      'the id at the provider where the firmware has no UUID of its own',
      {
        status: {
          import: { systemUUID: '03000200-0400-0500-0006-000700080009' },
          infra: { providerID: 'ssh://10.4.7.3' },
        },
      },
      ofProvider,
    ],
    [
      'the id at the provider where the UUID is not one',
      { status: { import: { systemUUID: 'Not Settable' }, infra: { providerID: 'ssh://10.4.7.3' } } },
      ofProvider,
    ],
    [
      'nothing yet while the preflight of a host of a pool has not ended',
      { spec: POOLED, status: { infra: { providerID: 'ssh://10.4.7.3' } } },
      undefined,
    ],
    [
      'the id of a host of a pool whose preflight found no UUID',
      { spec: POOLED, status: { infra: { providerID: 'ssh://10.4.7.3' }, preflight: PREFLIGHT } },
      ofProvider,
    ],
    [
      'nothing yet while the preflight of an imported host has not ended',
      { spec: IMPORTED, status: { infra: { providerID: 'ssh://10.4.7.3' } } },
      undefined,
    ],
    ['nothing of a host that joined by itself', {}, undefined],
    [
      'nothing new where a label is set',
      { metadata: { labels: { [KEY]: 'asset-77' } }, status: { import: { systemUUID: UUID } } },
      undefined,
    ],
    [
      'nothing of a Machine that is deleted',
      { metadata: { deletionTimestamp: ago(1) }, status: { import: { systemUUID: UUID } } },
      undefined,
    ],
  ])('R26 the hardware of a Machine is %s', (_, parts, expected) => {
    expect(labelOf(parts)).toBe(expected);
  });

  it('R26 leaves other labels as they are', () => {
    const status = { import: { systemUUID: UUID } };
    expect(planHardwareLabel(machine('m', { metadata: { labels: { team: 'a' } }, status }))).toEqual([
      { op: 'add', path: '/metadata/labels/kubenode.dev~1hardware', value: ofUuid },
    ]);
    expect(planHardwareLabel(machine('m', { status }))).toEqual([
      { op: 'add', path: '/metadata/labels', value: { [KEY]: ofUuid } },
    ]);
  });
});
