/** `plan` and `validate` refuse a rule that does not compile or fails its own tests. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createCommitChecks } from '../../../src/cli/checks/commit-checks.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { findAllRefusals } from '../../../src/sync/judge/object-checks.ts';
import { createRemedierSpec } from '../../rules/sample-rule.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { createFleetFolder, createTestRenderer, type Files } from '../../support/fleet-repository.ts';
import { testIo } from '../../support/test-io.ts';

const CLUSTER = `apiVersion: kubenode.dev/v1alpha1
kind: Cluster
metadata: {name: test}
spec: {environment: test, connection: {credentialsRef: {name: test}}}
`;

const WHERE = 'clusters/test/rules/kernel-hang.yaml';

function ruleFile(changes: Readonly<Record<string, unknown>> = {}): string {
  const metadata = { name: 'kernel-hang' };
  return stringify({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata,
    spec: createRemedierSpec(changes),
  });
}

function filesWith(rule: string): Files {
  return { 'hub/clusters/test.yaml': CLUSTER, [WHERE]: rule };
}

/** A repository of YAML with a committed good rule, then this rule in the working tree. */
function repository(rule: string): string {
  const folder = createFleetFolder(filesWith(ruleFile()));
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'A good rule');
  writeFileSync(join(folder, WHERE), rule);
  return folder;
}

async function kubenode(cwd: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo({ cwd });
  const code = await runCommandLine(io, args);
  return { code, out: io.stdout, err: io.stderr };
}

const FLIPPED = { '/rule/conditions/all/0/value': 'False' };

describe('a rule in a fleet repository', () => {
  it('is refused by plan if its own test fails: names test, result, reason and file', async () => {
    const { code, out } = await kubenode(repository(ruleFile(FLIPPED)), 'plan', '--no-live');
    expect(out).toContain(
      'test "hung" failed: expected Match, got NoMatch, because condition FrequentTaskHung status is "True", not "False"',
    );
    expect(out).toContain('NodeRemedier kernel-hang');
    expect(out).toContain(WHERE);
    expect(code).toBe(1);
  });

  it('is refused by plan if it does not compile', async () => {
    const { code, out } = await kubenode(
      repository(ruleFile({ '/rule/conditions/all/0/value': true })),
      'plan',
      '--no-live',
      '-o',
      'markdown',
    );
    expect(out).toContain(
      'spec.rule.conditions.all[0].value: condition.status must be a string: write "True" in quotes',
    );
    expect(out).toContain(WHERE);
    expect(code).toBe(1);
  });

  it('is planned if its tests pass', async () => {
    const changed = ruleFile({ '/rule/gate/all/0/value': 600 });
    const { code, out } = await kubenode(repository(changed), 'plan', '--no-live');
    expect(out).not.toMatch(/refused/i);
    expect(code).toBe(2);
  });

  it('is reported by validate with its line', async () => {
    const [folder, good] = [repository(ruleFile(FLIPPED)), repository(ruleFile())];
    const { code, out } = await kubenode(folder, 'validate', join(folder, 'clusters'), '-o', 'json');
    const { problems } = JSON.parse(out) as {
      problems: { file: string; line: number; field: string; message: string }[];
    };
    const [first] = problems;
    expect(first).toMatchObject({ file: WHERE, field: 'spec.tests[0]' });
    expect(first?.message).toContain('test "hung" failed: expected Match, got NoMatch');
    const lines = ruleFile(FLIPPED).split('\n');
    expect(lines[(first?.line ?? 0) - 1]).toContain('name: hung');
    expect(code).toBe(65);
    expect((await kubenode(good, 'validate', join(good, 'clusters'))).code).toBe(0);
  });
});

describe('a DefenderPolicy that would deny every ask, because it cannot be decided by', () => {
  it.each([
    [
      'a time zone that is unknown',
      'quiet: [{name: peak, start: "18:00", end: "23:00", timeZone: Europe/Berln, risks: [Node]}]',
      'spec: quiet peak: unknown time zone Europe/Berln',
    ],
    [
      'a count that is too high',
      'breakers: [{name: b, type: FailedActs, per: Cluster, count: 30, percent: 50}]',
      'spec: breaker b: count must not exceed 24 without withinSeconds',
    ],
    ['nothing', '', undefined],
  ])('R24 is refused by the judge of sync before it is applied: %s', async (_, field, message) => {
    const file = 'clusters/test/policies/gpu.yaml';
    const text = policyText('gpu', field);
    const folder = createFleetFolder({ 'hub/clusters/test.yaml': CLUSTER, [file]: text });
    const rendered = await createTestRenderer().folder({ folder });
    const refusals = await findAllRefusals(rendered, createCommitChecks());
    expect(refusals.map((refusal) => refusal.message)).toEqual(message === undefined ? [] : [message]);
  });
});

describe('a DefenderPolicy with a field that this version does not act on', () => {
  it('is refused by the judge of sync with file, line and path', async () => {
    const file = 'clusters/test/policies/gpu.yaml';
    const text = `# limits of GPU nodes
apiVersion: kubenode.dev/v1alpha1
kind: DefenderPolicy
metadata: {name: gpu}
spec:
  scope: {nodeSelector: {all: true}}
  breakers: [{name: cause, type: CommonCause, per: Zone, count: 3, withinSeconds: 600, dimensions: [detectorVersion]}]
`;
    const folder = createFleetFolder({ 'hub/clusters/test.yaml': CLUSTER, [file]: text });
    const rendered = await createTestRenderer().folder({ folder });
    const refusals = await findAllRefusals(rendered, createCommitChecks());
    expect(refusals).toMatchObject([
      {
        target: 'test',
        object: 'kubenode.dev/DefenderPolicy gpu',
        source: `${file}:2`,
        message: expect.stringMatching(
          /^spec\.breakers\[0\]\.per: not supported in this version, because a common cause is searched in the whole cluster: use Cluster/,
        ) as string,
      },
    ]);
  });
});

describe('a MachineComponent with a placeholder that no agent knows', () => {
  it('is refused by the judge of sync with file and path', async () => {
    const file = 'clusters/test/components/proxy.yaml';
    const files = [
      { path: '/etc/proxy.conf', content: 'listen ${machine.address}' },
      { path: '/etc/proxy.env', content: 'NODE=${machine.nmae}' },
    ];
    const { artifacts } = componentSpec('1.0');
    const component = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: 'proxy-1.0' },
      spec: { component: 'proxy', version: '1.0', artifacts, files },
    };
    const folder = createFleetFolder({ 'hub/clusters/test.yaml': CLUSTER, [file]: stringify(component) });
    const rendered = await createTestRenderer().folder({ folder });
    const refusals = await findAllRefusals(rendered, createCommitChecks());
    expect(refusals).toMatchObject([
      {
        object: 'kubenode.dev/MachineComponent proxy-1.0',
        source: `${file}:1`,
        message: expect.stringMatching(/^spec\.files\[1\]\.content: .*machine\.nmae/) as string,
      },
    ]);
  });
});

function policyText(name: string, field: string): string {
  return `apiVersion: kubenode.dev/v1alpha1
kind: DefenderPolicy
metadata: {name: ${name}}
spec:
  scope: {nodeSelector: {all: true}}
  ${field}
`;
}

function zoneLimit(max: number): string {
  return `concurrency: [{name: zone, per: Zone, max: ${max}}]`;
}

function replaceLimit(max: string): string {
  return `concurrency: [{name: all, per: Cluster, max: "${max}"}]`;
}

describe('a DefenderPolicy beside fleet-default', () => {
  const file = 'clusters/test/policies/gpu.yaml';

  async function refusalsOf(fleetDefault: string, more = ''): Promise<readonly string[]> {
    const text = `${policyText('gpu', 'concurrency: [{name: z, per: Zone, max: 4}]')}---
${policyText('fleet-default', fleetDefault)}${more}`;
    const folder = createFleetFolder({ 'hub/clusters/test.yaml': CLUSTER, [file]: text });
    const rendered = await createTestRenderer().folder({ folder });
    const refusals = await findAllRefusals(rendered, createCommitChecks());
    return refusals.map(({ object, source, message }) => `${source} ${object}: ${message}`);
  }

  it('R15 is refused by the judge of sync with file and line where it is looser, and only there', async () => {
    expect(await refusalsOf(zoneLimit(3))).toEqual([
      `${file}:1 kubenode.dev/DefenderPolicy gpu: spec.concurrency[0].max: looser than 3 of fleet-default, limit zone, so it could never deny: tighten it, or remove it`,
    ]);
    expect(await refusalsOf(zoneLimit(4))).toEqual([]);
    expect(await refusalsOf(zoneLimit(4), `---\n${policyText('other', zoneLimit(5))}`)).toHaveLength(1);
  });

  it('R15 is refused when it permits to replace more than a third of the machines, and fleet-default as well', async () => {
    expect(await refusalsOf(replaceLimit('34%'))).toEqual([
      `${file}:8 kubenode.dev/DefenderPolicy fleet-default: spec.concurrency[0].max: at most 33% without an approval rule for acts of risk Machine: lower it, or add the rule to spec.approval`,
    ]);
    expect(await refusalsOf(replaceLimit('33%'))).toEqual([]);
  });
});
