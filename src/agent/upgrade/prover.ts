/** Reports to the watchdog of an upgrade what this agent has proved. Called after each reconcile that finished. */
import type { Clock } from '../../os/clock.ts';
import type { Host } from '../host/port.ts';
import type { Journal } from '../journal/journal.ts';
import { AGENT_COMPONENT } from '../layout.ts';
import type { AgentApi } from '../run/api.ts';
import { upgradeKey } from './proof.ts';
import { createProofWriter } from './proof-store.ts';
import type { AgentSelf } from './self.ts';
import { selfTestReason } from './self-test.ts';

export interface ProverOptions {
  readonly host: Host;
  readonly api: Pick<AgentApi, 'isOnline' | 'machine'>;
  readonly journal: Journal;
  readonly self: AgentSelf;
  readonly clock: Pick<Clock, 'now'>;
  readonly certificateNotAfter?: () => Date | undefined;
}

export type ReportProof = (facts: { readonly hasWrittenLease: boolean }) => Promise<void>;

export function createProver(options: ProverOptions): ReportProof {
  const { host, api, journal, self } = options;
  const write = createProofWriter({
    files: host.files,
    pid: self.identity.pid,
    uptimeMs: self.uptimeMs,
  });
  return async ({ hasWrittenLease }) => {
    const state = journal.state();
    const key = upgradeKey(state.components.get(AGENT_COMPONENT));
    if (key === undefined) return;
    const reason = await selfTestReason({ host, journal: state, damagedLines: journal.damagedLines });
    const missing = [
      ...(api.isOnline() && api.machine() ? [] : ['its Machine was not read from the API server']),
      ...(hasWrittenLease ? [] : ['its Lease was not written']),
      ...(hasCertificate(options) ? [] : ['it has no certificate that is valid']),
      ...(reason === undefined ? [] : [`self-test failed: ${reason}`]),
    ];
    await write(key, missing);
  };
}

function hasCertificate({ certificateNotAfter, clock }: ProverOptions): boolean {
  const end = certificateNotAfter?.();
  return end !== undefined && end > clock.now();
}
