import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { truncateToSchema } from '../../../../src/api/validation/truncate-to-schema.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import type { AcceptedHead } from '../../../../src/sync/accepted-heads.ts';
import { GitError } from '../../../../src/sync/git/errors.ts';
import type { Ancestry, SignatureQuestion, SignatureReport } from '../../../../src/sync/git/transport.ts';
import {
  checkHeadSignatures,
  signaturePolicy,
  signatureRefusal,
} from '../../../../src/sync/hub/acceptance/head-signatures.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const SIGNERS = [{ name: 'people', keysPath: 'keys', paths: [] }];
const PERSON: AcceptedHead = { commit: 'z', replaces: [], byPerson: true };
const IN_GIT: AcceptedHead = { commit: 'z', replaces: [] };

/** Each relation is of an older commit to the head; one that is not listed is not in the repository any more. */
async function ask(
  head: string,
  relations: Readonly<Record<string, Ancestry>>,
  { mode = 'Range', newest = 'n', accepted = [] as readonly AcceptedHead[] } = {},
): Promise<SignatureQuestion | undefined> {
  const asked: SignatureQuestion[] = [];
  const git = {
    async ancestry({ ancestor }: { readonly ancestor: string }) {
      const found = relations[ancestor];
      if (!found) throw new GitError('NotFoundObject', 'not found');
      return found;
    },
    async signatures(question: SignatureQuestion): Promise<SignatureReport> {
      asked.push(question);
      return { commits: 1, problems: [], refused: 0 };
    },
  };
  const policy = { mode: mode as 'None' | 'Range', signers: SIGNERS };
  const question = { head, newest, accepted, policy, now: NOW, signal: new AbortController().signal };
  expect(await checkHeadSignatures({ git, ref: 'main' }, question)).toEqual({});
  return asked[0];
}

describe('the commits whose signatures are verified', () => {
  it.each<
    [
      name: string,
      head: string,
      relations: Record<string, Ancestry>,
      accepted: AcceptedHead[],
      before: string,
    ]
  >([
    ['since the newest accepted commit', 'h', { n: 'descends' }, [], 'n'],
    ['since it, too, where the head was accepted in git only', 'z', { n: 'diverged' }, [IN_GIT], 'n'],
    [
      'since it, although an older head was accepted by a person',
      'h',
      { n: 'descends', z: 'descends' },
      [PERSON],
      'n',
    ],
    [
      'since a head that a person accepted in its place',
      'h',
      { n: 'diverged', z: 'descends' },
      [PERSON],
      'z',
    ],
    ['since that head, also where the replaced commit is not found', 'h', { z: 'descends' }, [PERSON], 'z'],
    [
      'since the newest, where that head is of another history',
      'h',
      { n: 'diverged', z: 'diverged' },
      [PERSON],
      'n',
    ],
    [
      'since the newest, where that head was accepted in git only',
      'h',
      { n: 'diverged', z: 'descends' },
      [IN_GIT],
      'n',
    ],
  ])('S19 the commits to verify are those %s', async (...[, head, relations, accepted, before]) => {
    const question = await ask(head, relations, { accepted });
    expect(question).toEqual({ mode: 'Range', head, before, ref: 'main', signers: SIGNERS, now: NOW });
  });

  it('S19 are not asked for where the Pipeline asks for none, or a person accepted exactly this head', async () => {
    expect(await ask('h', { n: 'descends' }, { mode: 'None' })).toBeUndefined();
    expect(await ask('z', { n: 'diverged' }, { accepted: [PERSON] })).toBeUndefined();
  });

  it('S19 are read from the Pipeline in the hub', () => {
    const source = { signatures: 'Head', signers: SIGNERS };
    const pipeline = { spec: { source } } as unknown as Pipeline;
    expect(signaturePolicy(pipeline)).toEqual({ mode: 'Head', signers: SIGNERS });
  });
});

describe('a head whose history cannot be read', () => {
  it.each([
    ['NotFoundObject', 'refused'],
    ['Unreachable', 'not judged'],
  ] as const)('S19 after the error %s it is %s', async (code, expected) => {
    const error = new GitError(code, 'the history of h is incomplete');
    const git = {
      ancestry: async () => 'diverged' as const,
      signatures: async () => Promise.reject(error),
    };
    const policy = { mode: 'Range' as const, signers: SIGNERS };
    const question = { head: 'h', newest: 'n'.repeat(40), accepted: [IN_GIT], policy, now: NOW };
    const signal = new AbortController().signal;
    const judged = await checkHeadSignatures({ git, ref: 'main' }, { ...question, signal }).catch(
      () => 'not judged',
    );
    const message =
      'the signatures of the commits since nnnnnnnnnnnn cannot be verified: the history of h is incomplete. Push what is missing, or run: kubenode release accept-head h';
    expect(judged).toEqual(
      expected === 'refused' ? { refusal: { accepted: false, verdict: 'BadSignature', message } } : expected,
    );
  });
});

describe('signatureRefusal', () => {
  it('S19 names the first commits with their reasons, counts the others, and tells what to do', () => {
    const report = { commits: 9, refused: 5, problems: ['a', 'b', 'c'].map(problem) };
    expect(signatureRefusal(report, 'head')).toBe(
      "commit aaaaaaaaaaaa (a a a a a a a a a a a a a a a a a a a a …): it is not signed; commit bbbbbbbbbbbb (b b b b b b b b b b b b b b b b b b b b …): it is not signed; and 3 more commits. Push signed commits in place of them (git rebase --exec 'git commit --amend --no-edit -S'), or run: kubenode release accept-head head",
    );
    expect(signatureRefusal({ commits: 9, refused: 0, problems: [] }, 'head')).toBeUndefined();
  });

  it('S19 keeps what to do within a message of the Pipeline, however long an author made the reasons', () => {
    const report = { commits: 9, refused: 9999, problems: ['a', 'b'].map(longProblem) };
    const message = signatureRefusal(report, 'h'.repeat(40));
    const object = {
      apiVersion: API_VERSION,
      kind: 'Pipeline',
      status: { conditions: [], head: { message } },
    };
    expect(message).toMatch(/or run: kubenode release accept-head h{40}$/);
    expect(truncateToSchema(object)).toEqual(object);
  });
});

function problem(commit: string): SignatureReport['problems'][number] {
  return { commit: commit.repeat(40), subject: `${commit} `.repeat(30), because: 'it is not signed' };
}

function longProblem(commit: string): SignatureReport['problems'][number] {
  return { ...problem(commit), because: '\u{1F511}'.repeat(5000) };
}

async function authorsOf(
  mode: 'Head' | 'Range',
  relations: Readonly<Record<string, Ancestry>> = { n: 'descends' },
): Promise<readonly string[] | undefined> {
  const git = {
    ancestry: async ({ ancestor }: { readonly ancestor: string }): Promise<Ancestry> =>
      relations[ancestor] ?? 'diverged',
    signatures: async (): Promise<SignatureReport> => ({
      commits: 1,
      problems: [],
      refused: 0,
      authors: ['ann@example.com'],
    }),
  };
  const policy = { mode, signers: SIGNERS };
  const rest = { newest: 'n', accepted: [PERSON], now: NOW, signal: new AbortController().signal };
  return (await checkHeadSignatures({ git, ref: 'main' }, { head: 'h', policy, ...rest })).authors;
}

describe('the authors of the commits that were verified', () => {
  it('S36 are known where each commit since the accepted one was verified, and only there', async () => {
    expect(await authorsOf('Range')).toEqual(['ann@example.com']);
    expect(await authorsOf('Head')).toBeUndefined();
    expect(await authorsOf('Range', { n: 'diverged', z: 'descends' })).toBeUndefined();
  });
});
