/** Reads the rollouts of a commit on one cluster, with what its Defender would answer now. Reads, and writes nothing. */

import type { DefenderLedgerSpec } from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import type { Defender, DefenderOptions } from '../../../defender/defender.ts';
import type { LivePreview } from '../../../sync/preview/live.ts';
import type { TargetRollouts } from '../../../sync/preview/rollouts.ts';
import { withDefenderViews } from '../../fleet/defender-session.ts';
import type { PlanPorts } from '../ports.ts';
import { answersTo, withAnswers, withoutAnswers } from './defender.ts';
import { concernsRollouts, type RolloutFleet, withChange } from './fleet.ts';
import { type AskedRollout, planRollouts } from './preview.ts';

/** The connection to one cluster. */
export type ClusterConnection = Pick<DefenderOptions, 'client' | 'calls'>;

export interface ClusterChange extends Pick<LivePreview, 'written' | 'deleted'> {
  /** Reads the machines of the cluster at the first call. */
  readonly readFleet: () => Promise<RolloutFleet>;
}

/** Plans the rollouts. A plan whose machines cannot be read is shown without them. */
export async function readRollouts(
  ports: PlanPorts,
  connection: ClusterConnection,
  { written, deleted, readFleet }: ClusterChange,
): Promise<TargetRollouts | undefined> {
  const change = { written, deleted };
  if (!concernsRollouts(change)) return undefined;
  try {
    const fleet = await readFleet();
    const planned = planRollouts(fleet, withChange(fleet, change), ports.clock.now());
    return { state: 'Known', sets: await askDefender(ports, connection, planned) };
  } catch (error) {
    return { state: 'Unknown', because: ports.explain(error) };
  }
}

/** Adds the answers of the Defender. What it decides by needs more rights than the machines: without them the rest of the plan is shown. */
async function askDefender(
  ports: PlanPorts,
  connection: ClusterConnection,
  planned: readonly AskedRollout[],
): Promise<ReturnType<typeof withAnswers>> {
  if (planned.every(({ asks }) => asks.length === 0)) return withAnswers(planned, []);
  try {
    return await withDefenderViews(ports, connection, async ({ observed, observer }) => {
      const ledger = ledgerIn(observed);
      if (!ledger) return withoutAnswers(planned, `DefenderLedger ${LEDGER} was not found`);
      const facts = { policies: observer.policies(), facts: observer.facts(), now: ports.clock.now() };
      return withAnswers(planned, answersTo(planned, { ledger, ...facts }));
    });
  } catch (error) {
    return withoutAnswers(planned, `what it decides by cannot be read: ${ports.explain(error)}`);
  }
}

function ledgerIn({ ledgers }: Defender['observed']): DefenderLedgerSpec | undefined {
  return ledgers.store.get(LEDGER)?.spec;
}
