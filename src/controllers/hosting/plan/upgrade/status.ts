/** Builds the part of the status about a change: its step, whether it can be taken back, and how the last ones ended. Pure. */
import { optional } from '../../../../kube/objects/optional.ts';
import { wholeSeconds } from '../../../../os/dates.ts';
import type { HostedStatus, HostingAct, HostingInput, Upgrade } from '../input.ts';
import { isEtcdAhead } from './members.ts';
import { minorsBetween } from './versions.ts';

type UpgradePart = Pick<
  HostedStatus,
  'upgrade' | 'history' | 'rolledBack' | 'rollbackPossible' | 'rollbackVersion'
>;

const MAX_HISTORY = 10;

export function upgradeStatus(input: HostingInput, act: HostingAct | undefined): UpgradePart {
  const before = input.cluster.status?.hosted;
  const part = act?.type === 'FinishUpgrade' ? finished(input, act) : { ...before };
  const upgrade = act?.type === 'RecordStep' ? act.upgrade : part.upgrade;
  return {
    ...optional('upgrade', upgrade),
    ...optional('history', part.history),
    ...optional('rolledBack', part.rolledBack),
    ...rollback(input, upgrade, part.history),
  };
}

function finished(
  { cluster, hosted, now }: HostingInput,
  { upgrade, result }: Extract<HostingAct, { readonly type: 'FinishUpgrade' }>,
): Pick<UpgradePart, 'upgrade' | 'history' | 'rolledBack'> {
  const { from, to, digest, controllers, message } = upgrade;
  const at = wholeSeconds(now);
  const record = { ...optional('from', from), ...optional('to', to), at, result };
  const before = cluster.status?.hosted?.history ?? [];
  // With other controllers the control plane has the same version.
  const history = controllers === undefined ? [record, ...before].slice(0, MAX_HISTORY) : before;
  // What a person took back by the spec may be tried again at once.
  if (message === undefined) return { history };
  const rolledBack = {
    ...optional('version', controllers === undefined ? to : undefined),
    ...optional('digest', digest),
    ...optional('retryToken', hosted.retryToken),
    message,
    at,
  };
  return { history, rolledBack };
}

/** A completed change of a patch version is taken back by another change; that of a minor version is not. */
function rollback(
  input: HostingInput,
  upgrade: Upgrade | undefined,
  history: UpgradePart['history'],
): Pick<UpgradePart, 'rollbackPossible' | 'rollbackVersion'> {
  const { settled } = input.plane;
  if (!settled) return {};
  if (upgrade && upgrade.controllers === undefined) {
    const isPossible = upgrade.step !== 'PointOfNoReturn' && !isEtcdAhead(input, settled);
    return { rollbackPossible: isPossible, ...(isPossible ? optional('rollbackVersion', upgrade.from) : {}) };
  }
  const former = patchBefore(settled.version, history);
  return { rollbackPossible: former !== undefined, ...optional('rollbackVersion', former) };
}

function patchBefore(version: string, history: UpgradePart['history']): string | undefined {
  const last = history?.find(({ result, to }) => result === 'Completed' && to === version);
  const from = last?.from ?? version;
  return from !== version && minorsBetween(from, version) === 0 ? from : undefined;
}
