/** The rules of the example fleet, which `kubenode init` writes. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rules } from '../../rules/index.ts';
import { answeringMaintenanceRule } from '../../rules/maintenance.ts';
import type { NodeRemedier } from '../../src/api/generated/types.ts';
import { isWithin, matchBound } from '../../src/controllers/remedy/targets.ts';
import { checkRule } from '../../src/rules/rule-tests.ts';

const ROOT = join(import.meta.dirname, '../..');
/** With the variants that a fleet may use in place of a rule. */
const variants = { ...rules, 'maintenance, answering': answeringMaintenanceRule };
const all = Object.entries(variants).map(([name, spec]) => ({ name, spec }));

describe('a shipped rule', () => {
  it.each(all)('R9 $name compiles, and passes its own tests', async ({ spec }) => {
    expect(await checkRule(spec)).toEqual([]);
  });

  it.each(all)('R9 $name has a gate, and tests of every outcome', ({ spec }) => {
    expect(new Set(spec.tests.map(({ expect: outcome }) => outcome))).toEqual(
      new Set(['Match', 'NoMatch', 'Held', 'Indeterminate']),
    );
  });

  it.each(all)('$name has a runbook', ({ spec }) => {
    expect(existsSync(join(ROOT, spec.owner.runbook ?? 'missing'))).toBe(true);
  });

  it.each(all)('R35 $name undoes the cordon of a rung that drains', ({ spec }) => {
    const draining = spec.ladder.filter(({ plan }) => plan.some(({ step }) => step === 'Drain'));
    expect(draining.flatMap(({ onVerified }) => onVerified ?? [])).toEqual(
      draining.map(() => ({ step: 'Uncordon' })),
    );
  });
});

/** What each rule does to a node. One that hands off does no more than keep new Pods away. */
const ACTS: Readonly<Record<string, string>> = {
  'clock-drift': '',
  'component-down-kubelet': 'RestartService ReinstallComponent',
  'component-down-node-exporter': 'RestartService ReinstallComponent',
  'conntrack-full': 'Cordon',
  'container-runtime-down': 'RestartService Cordon',
  'dead-host': 'Cordon PowerCycle ReplaceMachine',
  'disk-pressure': 'CleanDisk',
  'flapping-not-ready': 'Cordon',
  'gpu-xid-hardware': 'Cordon',
  'gpu-xid-reset': 'Cordon Drain ResetGPU Cordon Drain Reboot WaitForBoot',
  'gpu-xid': 'Cordon Drain Reboot WaitForBoot',
  'inode-exhaustion': 'CleanDisk Cordon',
  'kernel-hang': 'Cordon Drain Reboot WaitForBoot',
  'kubelet-not-ready': 'RestartService',
  maintenance: 'Cordon Drain',
  'maintenance, answering': 'Cordon Drain AnswerProvider',
  'network-unavailable': '',
  'oom-storm': 'Cordon',
  'read-only-filesystem': 'Cordon',
  'service-restarts-containerd': 'Cordon',
  'service-restarts-kubelet': 'Cordon',
};
const NO_ACTS = ['CollectDiagnostics', 'HandOff'];

describe('the limits of a shipped rule', () => {
  it.each(all)('R9 $name does nothing that is more disruptive than its fault', ({ name, spec }) => {
    const steps = spec.ladder.flatMap(({ plan }) => plan.map(({ step }) => step));
    expect(steps.filter((step) => !NO_ACTS.includes(step)).join(' ')).toBe(ACTS[name]);
  });

  it.each(all)('R9 $name ends at a person', ({ spec }) => {
    expect(spec.ladder.at(-1)?.plan.at(-1)?.step).toBe('HandOff');
  });

  // A provider announces the maintenance of a whole zone at once: these are limited by the Defender alone.
  const limited = all.filter(({ spec }) => spec.faultClass !== 'Maintenance');

  it.each(limited)('R9 $name acts on no node when a detector flips a quarter of them at once', ({ spec }) => {
    const { maxMatchPercent = 100 } = spec.target;
    const findings = new Map(Array.from({ length: 25 }, (_, index) => [`m-${index}`, MATCH]));
    const rule = { spec: { target: { ...spec.target, maxMatchPercent } } } as unknown as NodeRemedier;
    expect(isWithin(matchBound(rule, { targets: 100, unseen: 0 }, findings))).toBe(false);
  });
});

const MATCH = { outcome: 'Match', because: 'it is flipped', isSinceKnown: true } as const;

/** Pages about kubenode itself. */
const OF_NO_RULE = new Set([
  'alerts.md',
  'certificate-expiry.md',
  'denials.md',
  'etcd-backup.md',
  'kubenode-down.md',
  'machine-stuck.md',
  'rollout-stopped.md',
  'stop-everything.md',
]);

describe('the folder docs/runbooks', () => {
  it('has no page of a rule that does not exist', () => {
    const used = all.map(({ spec }) => spec.owner.runbook);
    const pages = readdirSync(join(ROOT, 'docs/runbooks')).filter((file) => !OF_NO_RULE.has(file));
    expect(pages.filter((file) => !used.includes(`docs/runbooks/${file}`))).toEqual([]);
  });
});
