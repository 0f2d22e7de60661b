/** A commit whose rule fails its own tests is never accepted, so it never becomes a candidate. */
import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../../src/cli/checks/commit-checks.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { DecryptionKeys } from '../../../../src/sync/decrypt-objects.ts';
import { GitError } from '../../../../src/sync/git/errors.ts';
import type {
  Ancestry,
  GitTransport,
  SignatureQuestion,
  SignatureReport,
} from '../../../../src/sync/git/transport.ts';
import { createVerdictMemory } from '../../../../src/sync/hub/acceptance/commit-checks.ts';
import {
  createHeadAcceptance,
  type HeadAcceptance,
  type HeadAcceptanceOptions,
} from '../../../../src/sync/hub/acceptance/head-acceptance.ts';
import type { SignaturePolicy } from '../../../../src/sync/hub/acceptance/head-signatures.ts';
import { decryptionKeys } from '../../../../src/sync/hub/decryption-keys.ts';
import type { RenderStore } from '../../../../src/sync/hub/render-store.ts';
import { judgeContent } from '../../../../src/sync/judge/content.ts';
import { RenderError } from '../../../../src/sync/render/errors.ts';
import type { Rendered } from '../../../../src/sync/rendered.ts';
import { encryptedObject, firstKeys } from '../../../kube/sops/encrypted-files.ts';
import { createRemedierSpec } from '../../../rules/sample-rule.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { secretStore } from '../../../support/secret-store.ts';

const NEVER = new AbortController().signal;
const GOOD = 'a'.repeat(40);
const FAILS = 'b'.repeat(40);
const INVALID = 'c'.repeat(40);
const BETTER = 'd'.repeat(40);

const CHANGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [GOOD]: {},
  [FAILS]: { '/rule/gate/all/0/operator': 'lessThan' },
  [INVALID]: { '/rule/conditions/all': [] },
  [BETTER]: { '/rule/gate/all/0/value': 600 },
};

function keysOfFiles(): DecryptionKeys {
  return { version: '1', read: firstKeys };
}

function asksForAll(): SignaturePolicy {
  return { mode: 'Range', signers: [] };
}

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

/** Every commit descends from the one before, and renders at once. */
function createAcceptance(
  ancestry: GitTransport['ancestry'] = async () => 'descends',
  released?: string,
  options: Partial<HeadAcceptanceOptions> = {},
): HeadAcceptance {
  const git: Pick<GitTransport, 'ancestry'> = { ancestry };
  const renders: Pick<RenderStore, 'get' | 'judge'> = {
    get: async (commit) => rendered(commit),
    judge: async (commit) => judgeContent(rendered(commit), createCommitChecks()),
  };
  return createHeadAcceptance({
    git: git as GitTransport,
    ref: 'refs/heads/main',
    renders: renders as RenderStore,
    verdicts: createVerdictMemory(),
    appliedCommits: () => [],
    newestReleasedCommit: () => released,
    hasRelease: (commit) => commit === released,
    acceptedHeads: () => [],
    signatures: () => ({ mode: 'None', signers: [] }),
    identities: () => ({ pipeline: 'fleet', before: new Set() }),
    keys: () => decryptionKeys('fleet', undefined, secretStore()),
    clock: { now: () => new Date('2030-01-01T00:00:00Z') },
    log: memoryLog(),
    ...options,
  });
}

describe('createHeadAcceptance', () => {
  it('refuses a commit whose rule fails its own test, keeps the one before, and accepts the next', async () => {
    const heads = createAcceptance();
    await heads.check(GOOD, NEVER);
    expect(heads.newestAccepted()).toBe(GOOD);

    await heads.check(FAILS, NEVER);
    expect(heads.newestAccepted()).toBe(GOOD);
    expect(heads.resultFor(FAILS)).toEqual({
      accepted: false,
      verdict: 'Refused',
      message: expect.stringMatching(
        /^kubenode.dev\/NodeRemedier kernel-hang of prod: spec\.tests\[0\]: test "hung" failed: expected Match, got Held, because gate: node uptimeSeconds is 86400, not below 900 \[rules\/kernel-hang\.ts:7/,
      ) as string,
    });

    await heads.check(BETTER, NEVER);
    expect(heads.newestAccepted()).toBe(BETTER);
  });

  it('keeps what a former process accepted, when this one starts at a head that is refused', async () => {
    const heads = createAcceptance(undefined, GOOD);
    await heads.check(FAILS, NEVER);
    expect(heads.newestAccepted()).toBe(GOOD);

    const diverged = createAcceptance(async () => 'diverged', GOOD);
    await diverged.check(BETTER, NEVER);
    expect(diverged.newestAccepted()).toBe(GOOD);
  });

  it('refuses a commit whose rule does not compile', async () => {
    const heads = createAcceptance();
    await heads.check(INVALID, NEVER);
    expect(heads.newestAccepted()).toBeUndefined();
    expect(heads.resultFor(INVALID)).toMatchObject({
      verdict: 'Refused',
      message: expect.stringContaining(
        'spec.rule.conditions.all: must not be empty: an empty list would always match',
      ) as string,
    });
  });

  it.each([
    ['TooLarge', { accepted: false, verdict: 'Refused', message: 'too much; remove it' }, 1],
    // It may be over with the next poll, so nothing is decided.
    ['Unreachable', undefined, 3],
  ] as const)(
    'remembers that the history of a head cannot be read only when that is final: %s',
    async (code, result, asked) => {
      let calls = 0;
      const heads = createAcceptance(async () => {
        calls += 1;
        throw new GitError(code, 'too much', { hint: 'remove it' });
      });
      await heads.check(GOOD, NEVER);
      for (let poll = 0; poll < 3; poll += 1) await heads.check(BETTER, NEVER).catch(() => undefined);
      expect(heads.resultFor(BETTER)).toEqual(result);
      expect(calls).toBe(asked);
      expect(heads.newestAccepted()).toBe(GOOD);
    },
  );

  it('SAF-6 keeps accepting what follows an accepted head, although inventories still name the replaced history', async () => {
    const relations: Record<string, Ancestry> = { [`${GOOD} ${BETTER}`]: 'descends' };
    const heads = createAcceptance(
      async ({ ancestor, head }) => relations[`${ancestor} ${head}`] ?? 'diverged',
      GOOD,
      { appliedCommits: () => ['replaced'], acceptedHeads: () => accepted },
    );
    let accepted: readonly { commit: string; replaces: readonly string[] }[] = [];
    await heads.check(BETTER, NEVER);
    expect(heads.resultFor(BETTER)).toMatchObject({ accepted: false, verdict: 'NotDescendant' });
    accepted = [{ commit: GOOD, replaces: [] }];
    await heads.check(BETTER, NEVER);
    expect(heads.newestAccepted()).toBe(BETTER);
  });

  it('S19 refuses an unsigned head before it is rendered, and judges it again when the Pipeline asks for less', async () => {
    const judged: string[] = [];
    const renders = {
      get: async (commit: string) => rendered(commit),
      async judge(commit: string) {
        judged.push(commit);
        return judgeContent(rendered(commit), createCommitChecks());
      },
    } as unknown as RenderStore;
    let policy: SignaturePolicy = { mode: 'Range', signers: [] };
    const problem = { commit: BETTER, subject: 'better', because: 'it is not signed' };
    const git = {
      ancestry: async () => 'descends',
      signatures: async () => ({ commits: 1, problems: [problem], refused: 1 }),
    } as unknown as GitTransport;
    const heads = createAcceptance(undefined, GOOD, { git, renders, signatures: () => policy });
    await heads.check(BETTER, NEVER);
    expect(heads.resultFor(BETTER)).toMatchObject({ accepted: false, verdict: 'BadSignature' });
    expect([heads.newestAccepted(), judged]).toEqual([GOOD, []]);

    policy = { mode: 'None', signers: [] };
    await heads.check(BETTER, NEVER);
    expect([heads.newestAccepted(), judged]).toEqual([BETTER, [BETTER]]);
  });

  it('S19 verifies a refused head again after five minutes, because a key may have become valid', async () => {
    let now = new Date('2030-01-01T00:00:00Z');
    const asked: string[] = [];
    const problem = { commit: BETTER, subject: 'better', because: 'its key is not valid now' };
    const git = {
      ancestry: async () => 'descends',
      signatures: async (question: SignatureQuestion): Promise<SignatureReport> => {
        asked.push(question.now.toISOString());
        const isValid = +question.now >= Date.parse('2030-01-01T00:10:00Z');
        return isValid
          ? { commits: 1, problems: [], refused: 0 }
          : { commits: 1, problems: [problem], refused: 1 };
      },
    } as unknown as GitTransport;
    const log = memoryLog();
    const heads = createAcceptance(undefined, GOOD, {
      git,
      signatures: asksForAll,
      clock: { now: () => now },
      log,
    });
    for (const time of ['00:00', '04:59', '05:00', '09:59', '10:00']) {
      now = new Date(`2030-01-01T00:${time}Z`);
      await heads.check(BETTER, NEVER);
    }
    expect(asked).toEqual(['00:00', '05:00', '10:00'].map((time) => `2030-01-01T00:${time}.000Z`));
    expect(heads.newestAccepted()).toBe(BETTER);
    expect(log.lines.map(({ message }) => message)).toEqual(['head not accepted', 'head accepted']);
  });

  it('S30 keeps the name of the signer of a head that is not verified again once it is accepted', async () => {
    const git = {
      ancestry: async () => 'descends',
      signatures: async ({ head, before }: SignatureQuestion): Promise<SignatureReport> =>
        head === before
          ? { commits: 0, problems: [], refused: 0 }
          : {
              commits: 1,
              problems: [],
              refused: 0,
              signer: `signer of ${head[0] ?? ''}`,
              authors: [head[0] ?? ''],
            },
    } as unknown as GitTransport;
    let policy = asksForAll();
    const heads = createAcceptance(undefined, GOOD, { git, signatures: () => policy });
    await heads.check(BETTER, NEVER);
    policy = { mode: 'Head', signers: [] };
    await heads.check(BETTER, NEVER);
    await heads.check(INVALID, NEVER);
    expect(heads.signersOf(BETTER)).toEqual({ signer: 'signer of d', authors: ['d'] });
    expect(heads.signersOf(GOOD)).toEqual({});
    expect(heads.signersOf(INVALID)).toEqual({ signer: 'signer of c' });
  });

  it('S19 verifies a refused head again when the clock was set back', async () => {
    let now = new Date('2030-01-01T01:00:00Z');
    let calls = 0;
    const git = {
      ancestry: async () => 'descends',
      signatures: async (): Promise<SignatureReport> => {
        calls += 1;
        return { commits: 1, problems: [], refused: 1 };
      },
    } as unknown as GitTransport;
    const heads = createAcceptance(undefined, GOOD, {
      git,
      signatures: asksForAll,
      clock: { now: () => now },
    });
    await heads.check(BETTER, NEVER);
    now = new Date('2030-01-01T00:00:00Z');
    await heads.check(BETTER, NEVER);
    expect(calls).toBe(2);
  });

  it('SAF-5 renders and judges a commit once, also after this process lost its Lease and got it back', async () => {
    const verdicts = createVerdictMemory();
    const judged: string[] = [];
    const renders = {
      get: async (commit: string) => rendered(commit),
      async judge(commit: string) {
        judged.push(commit);
        if (commit === INVALID) throw new RenderError('Timeout', [{ message: 'too slow' }]);
        return judgeContent(rendered(commit), createCommitChecks());
      },
    } as unknown as RenderStore;
    const results: unknown[] = [];
    for (const lease of ['first', 'second']) {
      const heads = createAcceptance(undefined, GOOD, {
        verdicts,
        renders,
        // Another cluster reports another commit each time.
        appliedCommits: () => [lease],
      });
      for (const commit of [FAILS, INVALID, BETTER]) await heads.check(commit, NEVER);
      results.push([heads.newestAccepted(), heads.resultFor(BETTER)]);
    }
    expect(judged).toEqual([FAILS, INVALID, BETTER]);
    expect(results[1]).toEqual(results[0]);
    expect(verdicts.get(FAILS)).toMatchObject({ accepted: false, verdict: 'Refused' });
    expect(verdicts.get(INVALID)).toMatchObject({ accepted: false, verdict: 'RenderFailed' });
  });

  it('S29 refuses a head that was encrypted for another key, keeps the commit before, and accepts a revert', async () => {
    const contentOf = (commit: string): Rendered => {
      const object = encryptedObject(commit === FAILS ? 'post-quantum.yaml' : 'secret.yaml');
      const unit = { unit: 'shop', objects: [{ object, source: { file: 'db.sops.yaml:1' } }], digest: '' };
      return { commit, targets: [{ target: 'prod', units: [unit], digest: '' }] };
    };
    const renders = {
      get: async (commit: string) => contentOf(commit),
      judge: async (commit: string) => judgeContent(contentOf(commit), createCommitChecks()),
    } as unknown as RenderStore;
    const heads = createAcceptance(undefined, undefined, { renders, keys: keysOfFiles });
    await heads.check(GOOD, NEVER);
    await heads.check(FAILS, NEVER);
    const refused = heads.resultFor(FAILS);
    expect(refused).toMatchObject({ accepted: false, verdict: 'Refused' });
    expect(refused).toHaveProperty(
      'message',
      expect.stringMatching(/^Secret shop\/suffix of prod: it is encrypted for .* \[db.sops.yaml:1\]$/),
    );
    expect(heads.newestAccepted()).toBe(GOOD);
    await heads.check(BETTER, NEVER);
    expect(heads.newestAccepted()).toBe(BETTER);
  });

  it('S29 refuses a head that names an account for a unit that it lacks, until that identity is in force', async () => {
    const pipeline = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Pipeline',
      metadata: { name: 'fleet' },
      spec: { identities: [{ unit: 'rulez', serviceAccount: 'apps/deployer' }] },
    };
    const hub = { unit: 'fleet', objects: [{ object: pipeline, source: {} }], digest: '' };
    const renders = {
      get: async (commit: string) => {
        const { targets } = rendered(commit);
        return { commit, targets: [{ target: 'hub', units: [hub], digest: '' }, ...targets] };
      },
      judge: async () => ({ accepted: true, because: 'all objects are allowed' }),
    } as unknown as RenderStore;
    let before = new Set<string>();
    const identities = () => ({ pipeline: 'fleet', before });
    const heads = createAcceptance(undefined, GOOD, { renders, identities });
    await heads.check(BETTER, NEVER);
    expect(heads.newestAccepted()).toBe(GOOD);
    expect(heads.resultFor(BETTER)).toMatchObject({
      accepted: false,
      verdict: 'Refused',
      message: expect.stringContaining('did you mean rules?') as string,
    });

    before = new Set(['rulez']);
    await heads.check(BETTER, NEVER);
    expect(heads.newestAccepted()).toBe(BETTER);
  });
});
