/** Each denial of the Defender, made by its own guards from a fixture, as a machine that waits for a repair shows it. */
import { describe, expect, it } from 'vitest';
import { DENY_REASONS, type DenyReason } from '../../../src/api/deny-reasons.ts';
import type { Denial } from '../../../src/api/grants.ts';
import { formatWhy } from '../../../src/cli/fleet/why/format.ts';
import { denial } from '../../../src/defender/ledger/attempt.ts';
import { denialHint, hintBeside } from '../../../src/views/fleet/unblock.ts';
import { decideScene } from '../../defender/builders.ts';
import { FIXTURES, OF_LATER_VERSIONS } from '../../defender/fixtures.ts';
import { replayDeniedRepair } from '../../support/faults/f16-nothing-happens.ts';
import { NOW } from '../../support/virtual-clock.ts';

/** By reason. Those of the ledger have no guard. */
const DENIALS: ReadonlyMap<DenyReason, Denial> = new Map([
  ...FIXTURES.map(({ reason, scene }) => [reason, denialIn(scene)] as const),
  ['LedgerUnavailable', denial('LedgerUnavailable', 'the ledger is missing')],
  ['LedgerConflict', denial('LedgerConflict', 'the ledger changed while it was written: conflict')],
]);

function denialIn(scene: Parameters<typeof decideScene>[0]): Denial {
  const decision = decideScene(scene);
  if (decision.permitted) throw new Error('the fixture is permitted');
  const { permitted: _, audit: __, ...details } = decision;
  return { granted: false, ...details };
}

function denialOf(reason: DenyReason): Denial {
  const found = DENIALS.get(reason);
  if (!found) throw new Error(`no fixture makes the Defender deny with ${reason}`);
  return found;
}

function explained({ reason, policy, message }: Denial): string {
  return `${reason}${policy === undefined ? '' : ` [${policy}]`}: ${message}`;
}

/** What `kubenode why machine m` prints of a denied reboot. */
function why({ reason, message, also }: Denial): readonly string[] {
  const acts = [
    { action: 'Reboot', permitted: false, causes: [{ reason, message }, ...also], inTheWay: [] },
  ] as const;
  const machine = {
    machine: 'm',
    readiness: 'NotReady',
    notes: [],
    holds: [],
    waits: [],
    breakers: [],
  } as const;
  return formatWhy({ ...machine, acts, ledger: { seq: 1, recovering: false } }, NOW).split('\n');
}

describe('a machine whose repair is denied', () => {
  it.each(DENY_REASONS.filter((reason) => !OF_LATER_VERSIONS.includes(reason)))(
    'R29 shows the one reason %s, since when it is sick, and what ends the denial',
    async (reason) => {
      const denied = denialOf(reason);
      const bed = await replayDeniedRepair(denied);
      expect(denied.reason).toBe(reason);
      expect(bed.notes()).toEqual([`rule fault waits: Denied: ${explained(denied)}`]);
      expect(bed.remedier()?.status?.counts?.denied).toEqual({ [reason]: 1 });
      expect(bed.machine()?.status?.faults).toMatchObject([{ since: '2030-01-01T12:00:10Z' }]);
      expect(bed.jobs()).toEqual([]);
      expect(why(denied)).toContain(`DENIED    Reboot  ${reason}  ${denied.message}`);
      expect(why(denied)).toContain(`  unblock ${hintBeside('m', denialHint(reason, 'm'))}`);
      // The answer never leads back to the command that gave it.
      expect(why(denied).join('\n')).not.toContain('kubenode why machine m');
    },
  );

  it('R29 names another reason when the first one has ended', async () => {
    const bed = await replayDeniedRepair(denialOf('Freeze'));
    bed.grants.deny = () => denialOf('NodeInterval');
    await bed.live(60);
    expect(bed.notes().slice(1)).toEqual([
      `rule fault waits: Denied: ${explained(denialOf('NodeInterval'))}`,
    ]);
    expect(bed.remedier()?.status?.counts?.denied).toEqual({ Freeze: 0, NodeInterval: 1 });
  });
});
