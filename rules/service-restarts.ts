import { component, condition, type NodeRemedierSpec } from 'kubenode/constructs';

/** Which component systemd starts again and again, by the condition that the problem detector counts its restarts in. */
const CONDITIONS = {
  kubelet: 'FrequentKubeletRestart',
  containerd: 'FrequentContainerRuntimeRestart',
} as const;

/**
 * Keeps new Pods away from a node whose kubelet or container runtime ends by itself again and again, and hands it off to people.
 * One more restart would not help: systemd has made five.
 */
export function serviceRestarts(name: keyof typeof CONDITIONS): NodeRemedierSpec {
  const type = CONDITIONS[name];
  const facts = (status: 'True' | 'False', state?: string): Readonly<Record<string, unknown>> => ({
    condition: { [type]: { status, observedSeconds: 90 } },
    ...(state !== undefined && { component: { [name]: { state } } }),
  });
  return {
    mode: 'Enforce',
    owner: { team: 'node-sre', runbook: 'docs/runbooks/service-restarts.md' },
    faultClass: 'Runtime',
    // After the rules that restart a service which is down now.
    priority: 450,
    target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 5 },
    rule: {
      conditions: condition(type).is('True', { for: '1m' }),
      // The rollout repairs an update that is in progress.
      gate: component(name).state.in('Committed', 'RolledBack'),
      clearSeconds: 1800,
    },
    dedup: { group: `restarts-${name}`, coveredBy: ['reboot', 'replace'] },
    ladder: [
      {
        name: 'person',
        plan: [
          { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
          { step: 'Cordon', timeoutSeconds: 30 },
          { step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } },
        ],
      },
    ],
    tests: [
      { name: 'ends again and again', expect: 'Match', given: facts('True', 'Committed') },
      { name: 'ends again and again after a rollback', expect: 'Match', given: facts('True', 'RolledBack') },
      { name: 'runs', expect: 'NoMatch', given: facts('False', 'Committed') },
      { name: 'an update is in progress', expect: 'Held', given: facts('True', 'Probation') },
      { name: 'agent silent', expect: 'Indeterminate', given: facts('True') },
      { name: 'detector silent', expect: 'Indeterminate', given: {} },
    ],
  };
}
