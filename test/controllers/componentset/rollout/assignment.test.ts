import { describe, expect, it } from 'vitest';
import { entryDigest } from '../../../../src/api/machine/entry-content.ts';
import {
  entriesWrite,
  grantAsk,
  needsReassignment,
  type WritingAction,
} from '../../../../src/controllers/componentset/rollout/assignment.ts';
import type { Permission } from '../../../../src/controllers/componentset/rollout/input.ts';
import { NOW } from '../../../support/builders.ts';
import { grant, member, NEW, OLD, type StateParts } from './rollout-input.ts';

const SET = { name: 'general', retryToken: 'again' };
const [APP] = NEW.components;
const { id, fence, notAfter } = grant();
const GIVEN = { id, fence, notAfter };
const PERMISSION: Permission = { by: 'Ask', class: 'Drain', recovery: false };

describe('entriesWrite', () => {
  it('assigns the entries of the revision, with a grant for exactly their content', () => {
    const action = { type: 'Assign', member: member('m'), revision: NEW, batch: 2 } as WritingAction;
    expect(entriesWrite(SET, action, GIVEN).components).toEqual([
      {
        ...APP,
        assignment: { set: 'general', revision: NEW.name, batch: 2, retryToken: 'again' },
        grant: { ...GIVEN, entryDigest: APP && entryDigest(APP) },
      },
    ]);
  });

  it('takes the grant out of the entries that it settles', () => {
    const settled = entriesWrite(
      SET,
      { type: 'Settle', member: member('m', { at: NEW }) } as WritingAction,
      undefined,
    );
    expect(settled.components).toEqual(NEW.components);
  });
});

describe('needsReassignment', () => {
  it.each<[what: string, parts: StateParts, expected: boolean]>([
    ['it has the entries, without an assignment', { at: NEW, step: 'Unassigned' }, true],
    ['it has those of another revision', { at: OLD, step: 'Unassigned' }, false],
    ['it has none', { at: 'None' }, false],
    ['they are assigned', { at: NEW, step: 'InWork' }, false],
    ['all of them are pins', { at: NEW, step: 'Unassigned', pinned: ['app'] }, false],
  ])('ROL-06 knows whether entries are assigned again: %s', (_what, parts, expected) => {
    expect(needsReassignment(member('m', parts), NEW)).toBe(expected);
  });
});

describe('grantAsk', () => {
  const context = { set: 'general', expectedSeconds: 60, factsAt: NOW };

  it.each<[what: string, parts: StateParts, permission: Permission, expected: object]>([
    ['the risk of its class', {}, PERMISSION, { risk: 'Node' }],
    ['no risk before its Node has served', { isEstablished: false }, PERMISSION, { risk: 'None' }],
    ['what is new on the machine', {}, { ...PERMISSION, brings: ['app-2'] }, { brings: ['app-2'] }],
    ['a recovery for what goes back', {}, { ...PERMISSION, recovery: true }, { recovery: true }],
  ])(
    'ROL-10 asks the Defender before a machine gets a revision: %s',
    (_what, parts, permission, expected) => {
      const asked = grantAsk(member('m', parts), NEW.name, permission, context);
      expect(asked).toMatchObject({
        holder: { kind: 'MachineComponentSet', name: 'general', revision: NEW.name },
        machine: 'm',
        action: 'UpdateComponent',
        ...expected,
      });
      expect('recovery' in asked).toBe('recovery' in expected);
    },
  );
});
