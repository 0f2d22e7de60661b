import { describe, expect, it } from 'vitest';
import {
  obtainGrants,
  type PermittedAction,
} from '../../../../src/controllers/componentset/execute/permissions.ts';
import { NOW } from '../../../support/builders.ts';
import { memoryGrants } from '../../../support/memory-grants.ts';
import { grant, inputOf, member, NEW } from '../rollout/rollout-input.ts';

/** In work, by a ledger that is observed late: its grant is not there any more. */
const LATE = member('m', { step: 'InWork', holdsGrant: true, grant: grant() });
const RENEW = { by: 'Renew', class: 'None', recovery: false } as const;

describe('obtainGrants', () => {
  it.each<[what: string, action: PermittedAction, granted: readonly string[]]>([
    [
      'the same change goes on: no new grant, with the risk of no change',
      { type: 'Permit', member: LATE, permission: RENEW, because: '' },
      [],
    ],
    [
      'it gets another revision: a new grant',
      {
        type: 'Assign',
        member: LATE,
        revision: NEW,
        permission: { ...RENEW, class: 'Restart' },
        because: '',
      },
      ['m Pod'],
    ],
  ])('ROL-10 does not renew a grant that was settled: %s', async (_what, action, granted) => {
    const grants = memoryGrants({ now: () => NOW });
    const answer = await obtainGrants([action], inputOf(), grants);
    expect(answer.denied).toEqual([]);
    expect(answer.granted.map((each) => each.action)).toEqual(granted.length === 0 ? [] : [action]);
    expect([...grants.open].map(([machine, { risk }]) => `${machine} ${risk}`)).toEqual(granted);
  });
});
