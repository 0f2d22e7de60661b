import { describe, expect, it } from 'vitest';
import type { RevisionRecord } from '../../../../src/api/generated/types.ts';
import type { RolloutInput } from '../../../../src/controllers/componentset/rollout/input.ts';
import { permissionFor } from '../../../../src/controllers/componentset/rollout/permission.ts';
import { member, NEW, OLD } from './rollout-input.ts';

const INPUT: Pick<RolloutInput, 'classOf'> = { classOf: () => 'Restart' };
const FORBIDDEN = { reason: 'ComponentIncompatible', because: 'kernel 5.4 is too old' } as const;
const COMPLETED: RevisionRecord = { revision: NEW.name, result: 'Completed' };
const ROLLED_BACK: RevisionRecord = { revision: NEW.name, result: 'RolledBack' };

describe('permissionFor', () => {
  it('asks for a grant, and renews the one that the machine has', () => {
    expect(permissionFor(INPUT, member('m'), NEW, false).by).toBe('Ask');
    expect(permissionFor(INPUT, member('m', { holdsGrant: true }), NEW, false).by).toBe('Renew');
  });

  it.each<readonly [string, readonly RevisionRecord[], readonly string[] | undefined]>([
    ['is new on the machine', [], ['app-2']],
    ['was rolled back before', [ROLLED_BACK], ['app-2']],
    ['completed before, as a machine that joins gets it: none', [COMPLETED], undefined],
  ])('names the components of a revision that %s', (_, history, brings) => {
    expect(permissionFor({ ...INPUT, progress: { history } }, member('m'), NEW, false).brings).toEqual(
      brings,
    );
  });

  it('names no component that the machine has', () => {
    expect(permissionFor(INPUT, member('m'), OLD, false)).not.toHaveProperty('brings');
    const absent = {
      ...NEW,
      components: NEW.components.map((each) => ({ ...each, state: 'Absent' as const })),
    };
    expect(permissionFor(INPUT, member('m'), absent, false)).not.toHaveProperty('brings');
  });

  it('forbids what is not compatible, and never a rollback', () => {
    const input = { ...INPUT, compatOf: () => FORBIDDEN };
    expect(permissionFor(input, member('m'), NEW, false).forbidden).toBe(FORBIDDEN);
    expect(permissionFor(input, member('m'), NEW, true)).not.toHaveProperty('forbidden');
  });

  it('forbids what the API server does not support, also a rollback', () => {
    const input = { ...INPUT, skewOf: () => FORBIDDEN };
    expect(permissionFor(input, member('m'), NEW, true).forbidden).toBe(FORBIDDEN);
  });
});
