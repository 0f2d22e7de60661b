/** R24: quiet windows and freezes. */
import type { DenialCause } from '../../api/grants.ts';
import { activeFreeze } from '../../rollout/maintenance-windows.ts';
import { isListed } from '../ledger/entries.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const quietWindow: PolicyGuard = {
  id: 'quiet-window',
  reasons: ['QuietWindow'],
  proof: { promise: 'an act in a quiet window', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: checkQuiet,
};

export const freeze: PolicyGuard = {
  id: 'freeze',
  reasons: ['Freeze'],
  proof: { promise: 'an act in a freeze', seed: 1 },
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: checkFreeze,
};

function checkQuiet({ ask, now }: GuardInput, { spec, quietState }: PreparedPolicy): readonly DenialCause[] {
  const { risk, faultClass } = ask;
  const quiet = spec.quiet.filter(
    ({ risks, exceptFaultClasses }) =>
      isListed(risks, risk) && !(faultClass !== undefined && exceptFaultClasses.includes(faultClass)),
  );
  if (quiet.length === 0) return [];
  const { open, changesAt } = quietState(quiet, now);
  if (!open) return [];
  const end = changesAt ? ` until ${changesAt.toISOString()}` : '';
  const message = `quiet window ${open.name}${end}`;
  return [{ reason: 'QuietWindow', message, key: open.name, ...(changesAt ? { until: changesAt } : {}) }];
}

function checkFreeze({ ask, now }: GuardInput, { spec }: PreparedPolicy): readonly DenialCause[] {
  const active = activeFreeze(
    spec.freezes.filter(({ risks }) => isListed(risks, ask.risk)),
    now,
  );
  if (!active) return [];
  const until = new Date(active.until);
  const message = `freeze ${active.name} until ${until.toISOString()}: ${active.reason}`;
  return [{ reason: 'Freeze', message, key: active.name, until }];
}
