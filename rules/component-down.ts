import { all, component, type NodeRemedierSpec } from 'kubenode/constructs';

/**
 * Restarts the service of a component whose probes fail, then installs the component again. Only while no update of it is in
 * progress: that is repaired by its rollout.
 */
export function componentDown(name: string): NodeRemedierSpec {
  const own = component(name);
  const verify = { conditions: own.ready.is(true), holdSeconds: 120, timeoutSeconds: 600 };
  const facts = (failedSeconds: number, now = 'Committed'): Readonly<Record<string, unknown>> => ({
    component: { [name]: { ready: failedSeconds === 0, failedSeconds, state: now } },
  });
  return {
    mode: 'Enforce',
    owner: { team: 'node-sre', runbook: 'docs/runbooks/component-down.md' },
    faultClass: 'Runtime',
    priority: 600,
    target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 10 },
    rule: {
      conditions: all(own.ready.is(false), own.failedSeconds.atLeast(60)),
      gate: own.state.in('Committed', 'RolledBack'),
      clearSeconds: 300,
    },
    dedup: { group: `restart-${name}`, coveredBy: ['reboot', 'replace'] },
    ladder: [
      {
        name: 'restart',
        plan: [{ step: 'RestartService', with: { service: name }, timeoutSeconds: 120 }],
        verify,
      },
      {
        name: 'reinstall',
        plan: [{ step: 'ReinstallComponent', with: { component: name }, timeoutSeconds: 600 }],
        verify,
      },
      { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
    ],
    tests: [
      { name: 'probes fail', expect: 'Match', given: facts(90) },
      { name: 'probes fail after a rollback', expect: 'Match', given: facts(90, 'RolledBack') },
      { name: 'probes failed once', expect: 'NoMatch', given: facts(5) },
      { name: 'probes pass', expect: 'NoMatch', given: facts(0) },
      { name: 'an update is in progress', expect: 'Held', given: facts(90, 'Activating') },
      { name: 'agent silent', expect: 'Indeterminate', given: {} },
    ],
  };
}
