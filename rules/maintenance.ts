import { all, condition, maintenance, type NodeRemedierSpec } from 'kubenode/constructs';

/**
 * Empties a machine before the reboot, stop, redeployment or preemption that its provider has announced, and returns it when the
 * event is over, or is cancelled. A hint is not enough: the drain for what really comes would wait for the end of its job.
 */
export const maintenanceRule: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/maintenance.md' },
  faultClass: 'Maintenance',
  priority: 900,
  // A provider can announce the outage of a whole zone: DefenderPolicy fleet-default limits how many machines are empty at a time.
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 100 },
  rule: {
    conditions: maintenance().isDue(),
    // Pods of a node that is down cannot end: it is what the event looks like while it happens.
    gate: condition('Ready').is('True'),
    clearSeconds: 60,
    // Providers postpone and repeat.
    flap: { windowSeconds: 3600, maxTransitions: 20 },
  },
  dedup: { group: 'maintenance' },
  ladder: [
    {
      name: 'empty',
      maxAttempts: 3,
      retrySeconds: 60,
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'Drain', timeoutSeconds: 3600, onTimeout: 'RequestApproval' },
      ],
      // It is over when nothing is due any more. Events of a day do not end the job.
      verify: {
        conditions: all(maintenance().isNotDue(), condition('Ready').is('True')),
        holdSeconds: 30,
        timeoutSeconds: 82_800,
      },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } }] },
  ],
  // Providers postpone and repeat: each time the machine is returned and emptied again.
  perMachine: { maxJobs: 10, windowSeconds: 86_400 },
  job: { deadlineSeconds: 86_400 },
  tests: [
    { name: 'a reboot is due', expect: 'Match', given: { ...announced({}), ...ready('True') } },
    {
      name: 'a preemption has begun',
      expect: 'Match',
      given: {
        ...announced({ type: 'Preempt', state: 'Executing', secondsUntilAct: -600 }),
        ...ready('True'),
      },
    },
    {
      name: 'tomorrow',
      expect: 'NoMatch',
      given: { ...announced({ secondsUntilAct: 86_400 }), ...ready('True') },
    },
    { name: 'a hint', expect: 'NoMatch', given: { ...announced({ hint: true }), ...ready('True') } },
    {
      name: 'not decided',
      expect: 'NoMatch',
      given: { ...announced({ state: 'Inquiring' }), ...ready('True') },
    },
    {
      name: 'the machine stays up',
      expect: 'NoMatch',
      given: { ...announced({ type: 'Network' }), ...ready('True') },
    },
    {
      name: 'nothing is announced',
      expect: 'NoMatch',
      given: { maintenance: { pending: false }, ...ready('True') },
    },
    { name: 'the node is down already', expect: 'Held', given: { ...announced({}), ...ready('False') } },
    { name: 'events are not known', expect: 'Indeterminate', given: ready('True') },
    { name: 'no condition', expect: 'Indeterminate', given: announced({}) },
  ],
};

/**
 * As maintenanceRule, and then the provider is asked not to wait: an empty machine is moved now, and returns sooner. For pools of a provider
 * that takes answers. Its jobs have the risk Machine, so that the policy limits them as replacements: one at a time in a pool.
 */
export const answeringMaintenanceRule: NodeRemedierSpec = {
  ...maintenanceRule,
  ladder: maintenanceRule.ladder.map((rung) =>
    rung.name === 'empty'
      ? {
          ...rung,
          plan: [
            ...rung.plan,
            {
              step: 'AnswerProvider',
              with: { answer: 'StartNow' },
              timeoutSeconds: 1800,
              onTimeout: 'NextRung',
            },
          ],
        }
      : rung,
  ),
};

/** A reboot, unless the fields differ. */
function announced(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const due = { pending: true, type: 'Reboot', state: 'Scheduled', hint: false, secondsUntilAct: 0 };
  return { maintenance: { ...due, ...fields } };
}

function ready(status: 'True' | 'False'): Readonly<Record<string, unknown>> {
  return { condition: { Ready: { status, observedSeconds: 9000 } } };
}
