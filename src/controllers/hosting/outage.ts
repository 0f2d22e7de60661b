/** Keeps in the status how long the API server of a control plane was away last, which `kubenode plan` shows before the next change. Pure. */
import type { HostedOutage } from '../../api/generated/types.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { HostingInput } from './plan/input.ts';
import { memberReport } from './plan/members.ts';

/** A change is away for longer than a start, by the time in which the former process ends, so that a start does not replace it. */
export function lastOutage(input: HostingInput): HostedOutage | undefined {
  const before = input.cluster.status?.hosted?.lastOutage;
  const { outage } = memberReport(input, 'kube-apiserver') ?? {};
  if (!outage || (before?.cause === 'Change' && outage.cause === 'Start')) return before;
  const { endedAt, milliseconds, cause } = outage;
  return { at: wholeSeconds(endedAt), milliseconds, cause };
}
