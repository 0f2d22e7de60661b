import { all, any, condition, type Expr, fleet, type NodeRemedierSpec, node, xid } from 'kubenode/constructs';

/**
 * The errors of NVIDIA GPUs that rules act on, by the catalog at docs.nvidia.com/deploy/xid-errors for Ampere and newer GPUs. In no list is
 * what the catalog ends with the application (13, 31, 94) or ignores (43, 63, 92).
 */
const XIDS = {
  /**
   * The catalog resets the GPU: memory errors that were not corrected (48), remapped (64), contained (95) or recovered (140), and a GPU whose
   * GSP processor fails or does not answer (119, 120).
   */
  reset: [48, 64, 95, 119, 120, 140],
  /** The catalog restarts the host: a GPU that fell off the bus is not there to be reset. */
  reboot: [79],
  /**
   * An error of the link to another GPU. The catalog has a workflow for it, which begins with a reset. These rules ask a person instead: the
   * code does not tell which end of the link is broken.
   */
  hardware: [74],
} as const;

const DAY = { within: '24h' } as const;
/** An error that returns on one GPU after resets and reboots is one of its hardware. */
const REPEATED = 3;

const resettable = xid(XIDS.reset, DAY);
const fallen = xid(XIDS.reboot, DAY);
const repairable = xid([...XIDS.reset, ...XIDS.reboot], DAY);
const hardware = xid(XIDS.hardware, DAY);

/**
 * Machines with the same driver whose GPUs need a repair. Where many do within an hour, the driver is likelier the cause than their
 * hardware, and neither resets nor reboots help. Two at a time are usual also in a fleet that is so small that one is more than 5 %.
 */
const sameDriver = fleet({ scope: 'driverVersion', faultClass: 'GPU', within: '1h' });

type Given = Readonly<Record<string, unknown>>;

const CALM: Given = affected(1, 0.002);

const common = {
  mode: 'Enforce',
  owner: { team: 'gpu-sre', runbook: 'docs/runbooks/gpu-xid.md' },
  faultClass: 'GPU',
  target: {
    nodeSelector: { matchLabels: { 'nvidia.com/gpu.present': 'true' } },
    controlPlane: 'Never',
    maxMatchPercent: 5,
  },
} as const;

/** Another repair does not help while the driver starts, nor a GPU that is to be replaced, nor against a bad driver. */
const gate = all(
  node.uptimeSeconds.atLeast(300),
  repairable.maxPerGPU.below(REPEATED),
  hardware.count.is(0),
  any(sameDriver.affectedCount.below(3), sameDriver.affectedRatio.below(0.05)),
);

/** Resets the GPUs of a node that have an error which a reset ends. Where that does not help, the node is rebooted, and then a person is asked. */
export const gpuXidReset: NodeRemedierSpec = {
  ...common,
  priority: 490,
  rule: {
    conditions: resettable.sinceReset.atLeast(1),
    // A reboot resets all GPUs.
    gate: all(gate, fallen.sinceBoot.is(0)),
    clearSeconds: 300,
  },
  dedup: { group: 'gpu-reset', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'reset',
      plan: [
        ...emptying(),
        {
          step: 'ResetGPU',
          with: { codes: XIDS.reset },
          timeoutSeconds: 300,
          onFailure: 'NextRung',
          onTimeout: 'NextRung',
        },
      ],
      verify: verified(resettable.sinceReset.is(0)),
      onVerified: [{ step: 'Uncordon' }],
    },
    reboot(resettable.sinceReset.is(0)),
    person(),
  ],
  perMachine: { maxJobs: 3, windowSeconds: 86_400 },
  tests: [
    { name: 'a memory error', expect: 'Match', given: { ...errors([48, 3]), ...upFor(9000), ...CALM } },
    {
      name: 'one error on each of two GPUs',
      expect: 'Match',
      given: { ...errors([48, 0], [95, 1]), ...upFor(9000), ...CALM },
    },
    { name: 'reset since', expect: 'NoMatch', given: { ...resetErrors([48, 3]), ...upFor(9000), ...CALM } },
    {
      name: 'again after a reset',
      expect: 'Match',
      given: { xid: [...resetErrors([48, 3, 600]).xid, ...errors([48, 3]).xid], ...upFor(9000), ...CALM },
    },
    { name: 'before the boot', expect: 'NoMatch', given: { ...errors([48, 3, 7200]), ...upFor(3600) } },
    {
      name: 'errors of applications',
      expect: 'NoMatch',
      given: { ...errors([13, 0], [31, 0], [43, 1], [45, 1], [92, 1], [94, 2]), ...upFor(9000) },
    },
    {
      name: 'a GPU fell off the bus, too',
      expect: 'Held',
      given: { ...errors([48, 3], [79, 2]), ...upFor(9000), ...CALM },
    },
    { name: 'the driver starts', expect: 'Held', given: { ...errors([119, 3]), ...upFor(120), ...CALM } },
    {
      name: 'the third on one GPU',
      expect: 'Held',
      given: { ...errors([48, 3], [79, 3, 7200], [48, 3, 9000]), ...upFor(3600), ...CALM },
    },
    {
      name: 'a fifth of a large fleet with this driver',
      expect: 'Held',
      given: { ...errors([48, 3]), ...upFor(9000), ...affected(210, 0.21) },
    },
    {
      name: 'other machines are not known',
      expect: 'Indeterminate',
      given: { ...errors([48, 3]), ...upFor(9000) },
    },
    { name: 'agent silent', expect: 'Indeterminate', given: upFor(9000) },
  ],
};

/** Empties and reboots a node whose GPU fell off the bus. */
export const gpuXid: NodeRemedierSpec = {
  ...common,
  priority: 500,
  rule: { conditions: fallen.sinceBoot.atLeast(1), gate, clearSeconds: 300 },
  dedup: { group: 'reboot', coveredBy: ['replace'] },
  ladder: [reboot(fallen.sinceBoot.is(0)), person()],
  perMachine: { maxJobs: 3, windowSeconds: 86_400 },
  tests: [
    { name: 'fell off the bus', expect: 'Match', given: { ...errors([79, 3]), ...upFor(9000), ...CALM } },
    {
      name: 'errors that a reset ends, and errors of applications',
      expect: 'NoMatch',
      given: { ...errors([48, 0], [95, 1], [13, 0], [31, 0], [94, 2]), ...upFor(9000) },
    },
    { name: 'before the boot', expect: 'NoMatch', given: { ...errors([79, 3, 7200]), ...upFor(3600) } },
    { name: 'the driver starts', expect: 'Held', given: { ...errors([79, 3]), ...upFor(120), ...CALM } },
    {
      name: 'the third on one GPU',
      expect: 'Held',
      given: { ...errors([79, 3], [79, 3, 7200], [48, 3, 9000]), ...upFor(3600), ...CALM },
    },
    {
      name: 'a link is broken, too',
      expect: 'Held',
      given: { ...errors([79, 3], [74, 2]), ...upFor(9000), ...CALM },
    },
    {
      name: 'two of eight machines',
      expect: 'Match',
      given: { ...errors([79, 3]), ...upFor(9000), ...affected(2, 0.25) },
    },
    {
      name: 'a fifth of a large fleet with this driver',
      expect: 'Held',
      given: { ...errors([79, 3]), ...upFor(9000), ...affected(210, 0.21) },
    },
    {
      name: 'thirty of a thousand machines',
      expect: 'Match',
      given: { ...errors([79, 3]), ...upFor(9000), ...affected(30, 0.03) },
    },
    {
      name: 'other machines are not known',
      expect: 'Indeterminate',
      given: { ...errors([79, 3]), ...upFor(9000) },
    },
    { name: 'agent silent', expect: 'Indeterminate', given: upFor(9000) },
  ],
};

/** Keeps new Pods away from a node whose GPU needs a person, and hands it off: what is broken is replaced by its vendor or its cloud. */
export const gpuHardware: NodeRemedierSpec = {
  ...common,
  priority: 510,
  rule: {
    conditions: any(hardware.count.atLeast(1), repairable.maxPerGPU.atLeast(REPEATED)),
    gate: node.uptimeSeconds.atLeast(300),
    clearSeconds: 3600,
  },
  dedup: { group: 'gpu', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'isolate',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
      ],
      verify: { conditions: quiet(), holdSeconds: 600, timeoutSeconds: 1800 },
      onVerified: [{ step: 'Uncordon' }],
    },
    person(),
  ],
  tests: [
    { name: 'a link is broken', expect: 'Match', given: { ...errors([74, 2]), ...upFor(9000) } },
    {
      name: 'the third on one GPU',
      expect: 'Match',
      given: { ...errors([79, 3], [79, 3, 7200], [48, 3, 9000]), ...upFor(3600) },
    },
    {
      name: 'three on three GPUs',
      expect: 'NoMatch',
      given: { ...errors([79, 1], [79, 2], [79, 3]), ...upFor(9000) },
    },
    {
      name: 'errors of applications',
      expect: 'NoMatch',
      given: { ...errors([31, 0], [31, 0], [31, 0]), ...upFor(9000) },
    },
    { name: 'the driver starts', expect: 'Held', given: { ...errors([74, 2]), ...upFor(120) } },
    {
      name: 'a high rate of corrected errors',
      expect: 'NoMatch',
      given: { ...errors([92, 2]), ...upFor(9000) },
    },
    { name: 'agent silent', expect: 'Indeterminate', given: upFor(9000) },
  ],
};

type Rung = NodeRemedierSpec['ladder'][number];

function emptying(): Rung['plan'] {
  return [
    { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
    { step: 'Cordon', timeoutSeconds: 30 },
    { step: 'Drain', timeoutSeconds: 3600, onTimeout: 'RequestApproval' },
  ];
}

function reboot(quietSince: Expr): Rung {
  return {
    name: 'reboot',
    plan: [
      ...emptying(),
      { step: 'Reboot', timeoutSeconds: 900 },
      { step: 'WaitForBoot', timeoutSeconds: 900 },
    ],
    verify: verified(quietSince),
    onVerified: [{ step: 'Uncordon' }],
  };
}

function verified(quietSince: Expr): NonNullable<Rung['verify']> {
  return {
    conditions: all(condition('Ready').is('True'), quietSince),
    holdSeconds: 300,
    timeoutSeconds: 1800,
  };
}

function person(): Rung {
  return { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'gpu-sre', severity: 'ticket' } }] };
}

function quiet(): Expr {
  return all(hardware.count.is(0), repairable.maxPerGPU.below(REPEATED));
}

/** A code, the index of a GPU, and an age of a minute unless it is given. Older than an hour: before the last boot. */
type Logged = readonly [code: number, gpu: number, ageSeconds?: number];
type LoggedGiven = { readonly xid: readonly object[] };

function errors(...logged: readonly Logged[]): LoggedGiven {
  return {
    xid: logged.map(([code, gpu, ageSeconds = 60]) => ({
      code,
      gpu,
      ageSeconds,
      earlierBoot: ageSeconds > 3600,
    })),
  };
}

/** Errors of GPUs that were reset since. */
function resetErrors(...logged: readonly Logged[]): LoggedGiven {
  return { xid: errors(...logged).xid.map((error) => ({ ...error, reset: true })) };
}

function affected(affectedCount: number, affectedRatio: number): Given {
  return { fleet: { driverVersion: { affectedCount, affectedRatio } } };
}

function upFor(uptimeSeconds: number): Given {
  return { node: { uptimeSeconds } };
}
