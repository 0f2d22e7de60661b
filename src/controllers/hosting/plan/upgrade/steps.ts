/** Names the steps of a change of a control plane. Pure. */
import { wholeSeconds } from '../../../../os/dates.ts';
import { API_SERVERS, type ChangeableMember, ETCD_MEMBERS, OWN_CONTROLLERS } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput, Upgrade } from '../input.ts';

/** The steps are in the order in which a change takes them. */
export const UPGRADE_STEPS = [
  'Preflight',
  'Snapshot',
  'Etcd',
  'APIServers',
  'Managers',
  'Soak',
  'PointOfNoReturn',
  'RollingBack',
] as const;
export type UpgradeStep = (typeof UPGRADE_STEPS)[number];

/** The steps that change members. No manager is newer than its API server. */
export const CHANGES = {
  Etcd: ETCD_MEMBERS,
  APIServers: API_SERVERS,
  Managers: ['kube-controller-manager', 'kube-scheduler'],
} as const satisfies Partial<Record<UpgradeStep, readonly ChangeableMember[]>>;

export function isChange(step: string | undefined): step is keyof typeof CHANGES {
  return step !== undefined && Object.hasOwn(CHANGES, step);
}

/** Returns the members that the step of this change starts again. Our own controllers are changed alone. */
export function changedMembers({ step, controllers }: Upgrade): readonly ChangeableMember[] {
  if (controllers !== undefined) return step === 'Managers' ? [OWN_CONTROLLERS] : [];
  return isChange(step) ? CHANGES[step] : [];
}

/** Records a step in the status before anything is done for it. */
export function recordStep(
  { now }: Pick<HostingInput, 'now'>,
  upgrade: Upgrade,
  step: UpgradeStep,
  because: string,
): HostingDecision {
  return { act: { type: 'RecordStep', upgrade: { ...upgrade, step, since: wholeSeconds(now) }, because } };
}
