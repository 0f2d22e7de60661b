/** Describes how to remove what endangers the machines of a cluster: a command, or a commit. Pure. */
import type { ClusterIncident } from '../../api/generated/types.ts';
import type { IncidentReason } from '../../api/status/incident-reasons.ts';

interface Hint {
  readonly text: string;
  /** Whether the text is a command, which is run against the cluster. */
  readonly isCommand: boolean;
}

const command = (text: string): Hint => ({ text, isCommand: true });
const commit = (text: string): Hint => ({ text, isCommand: false });

const HINTS: Readonly<Record<IncidentReason, Hint>> = {
  NoControllers: command('kubenode controllers'),
  ZoneDark: command('kubenode machine list'),
  BreakerOpen: command('kubenode defender status'),
  Stopped: command('kubenode defender resume'),
  // On the hub, and not in the cluster.
  FleetStopped: commit('kubenode fleet resume'),
  PolicyMissing: commit('Add it to the fleet repository'),
  PolicyRefused: commit('Fix it in git'),
  LedgerNotReady: command('kubenode defender status'),
  RuleHeld: command('kubenode remedy list'),
};

/**
 * Returns the hint for an incident. With `context`, a command names the context of the cluster, for a reader who is connected to the hub.
 */
export function incidentHint({ reason }: Pick<ClusterIncident, 'reason'>, context?: string): string {
  const { text, isCommand } = HINTS[reason];
  return isCommand ? withContext(text, context) : text;
}

export function withContext(text: string, context: string | undefined): string {
  return context === undefined ? text : `${text} --context ${context}`;
}
