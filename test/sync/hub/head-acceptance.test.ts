/** A commit whose rule fails its own tests never becomes a candidate: what the judge of heads makes of it. */
import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../src/cli/commands/sync/checks.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { GitTransport } from '../../../src/sync/git/transport.ts';
import { createHeadAcceptance, type HeadAcceptance } from '../../../src/sync/hub/head-acceptance.ts';
import type { RenderStore } from '../../../src/sync/hub/render-store.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';
import { createRemedierSpec } from '../../rules/sample-rule.ts';
import { memoryLog } from '../../support/memory-log.ts';

const GOOD = 'a'.repeat(40);
const FAILS = 'b'.repeat(40);
const IS_NONE = 'c'.repeat(40);
const BETTER = 'd'.repeat(40);

const CHANGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [GOOD]: {},
  [FAILS]: { '/rule/gate/all/0/operator': 'lessThan' },
  [IS_NONE]: { '/rule/conditions/all': [] },
  [BETTER]: { '/rule/gate/all/0/value': 600 },
};

function rendered(commit: string): Rendered {
  const object: KubeObject = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'kernel-hang' },
    spec: createRemedierSpec(CHANGES[commit]),
  };
  const source = { file: 'rules/kernel-hang.ts:7', construct: 'prod/rules/kernel-hang' };
  const unit = { unit: 'rules', objects: [{ object, source }], digest: 'sha256:0' };
  return { commit, targets: [{ target: 'prod', units: [unit], digest: 'sha256:0' }] };
}

/** Of its ports the judge asks two: here each commit follows the one before, and renders at once. */
function judge(): HeadAcceptance {
  const git: Pick<GitTransport, 'ancestry'> = { ancestry: async () => 'descends' };
  const renders: Pick<RenderStore, 'get'> = { get: async (commit) => rendered(commit) };
  return createHeadAcceptance({
    git: git as GitTransport,
    ref: 'refs/heads/main',
    renders: renders as RenderStore,
    checks: createCommitChecks(),
    lastApplied: () => [],
    newestReleasedCommit: () => undefined,
    acceptHead: () => undefined,
    log: memoryLog(),
  });
}

describe('the judge of heads', () => {
  it('does not accept a commit whose rule fails its own test: the one before stays, and the next one may come', async () => {
    const heads = judge();
    await heads.judge(GOOD);
    expect(heads.accepted()).toBe(GOOD);

    await heads.judge(FAILS);
    expect(heads.accepted()).toBe(GOOD);
    expect(heads.verdictOn(FAILS)).toEqual({
      accepted: false,
      verdict: 'Refused',
      message: expect.stringMatching(
        /^kubenode.dev\/NodeRemedier kernel-hang of prod: spec\.tests\[0\]: the test "hung" fails: expected Match, got Held, because the gate: node uptimeSeconds is 86400, not below 900 \[rules\/kernel-hang\.ts:7/,
      ) as string,
    });

    await heads.judge(BETTER);
    expect(heads.accepted()).toBe(BETTER);
  });

  it('does not accept a commit whose rule does not compile', async () => {
    const heads = judge();
    await heads.judge(IS_NONE);
    expect(heads.accepted()).toBeUndefined();
    expect(heads.verdictOn(IS_NONE)).toMatchObject({
      verdict: 'Refused',
      message: expect.stringContaining(
        'spec.rule.conditions.all: is empty, which the engine takes for yes',
      ) as string,
    });
  });
});
