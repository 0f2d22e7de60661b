import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerPendingApproval } from '../../../src/api/generated/types.ts';
import { hostedControlPlaneFacts } from '../../../src/defender/facts/other-subjects/hosted-control-plane.ts';
import type { ApiAnswer } from '../../../src/defender/http/problem.ts';
import { hostedCluster } from '../../support/hosting/objects.ts';
import { ago, policy } from '../builders.ts';
import { httpBed } from './bed.ts';

const ASK = { machine: 'm-1', action: 'Reboot' };
const OTHERS = { id: 'g-1-0', fence: 1 };

describe('the HTTP API', () => {
  it('R13 grants in the name of the caller up to the limit, renews, and settles', async () => {
    const bed = await httpBed();
    const granted = await bed.post('/v1/ask', 'alice', ASK);
    expect(granted).toMatchObject({
      status: 200,
      body: { granted: true, id: 'g-1-0', fence: 1, risk: 'Node' },
    });
    expect(bed.spec().grants['m-1']).toMatchObject({
      holder: { kind: 'Other', name: 'alice' },
      nodeUID: 'uid-m-1',
      state: 'Granted',
    });
    expect(await bed.post('/v1/ask', 'alice', ASK)).toEqual(granted);
    expect((await bed.post('/v1/ask', 'alice', { ...ASK, machine: 'm-2' })).status).toBe(200);
    expect(await bed.post('/v1/ask', 'bob', { ...ASK, machine: 'm-3' })).toMatchObject({
      status: 409,
      body: { granted: false, reason: 'ConcurrencyCluster', policy: 'fleet-default', used: 2, limit: 2 },
    });
    expect(await bed.post('/v1/renew', 'alice', OTHERS)).toMatchObject({
      status: 200,
      body: { id: 'g-1-0' },
    });
    expect(bed.spec().grants['m-1']?.state).toBe('Started');
    const end = { ...OTHERS, outcome: 'Succeeded' };
    expect(await bed.post('/v1/settle', 'alice', end)).toEqual({
      status: 200,
      body: { settled: true, id: 'g-1-0' },
    });
    expect((await bed.post('/v1/settle', 'alice', end)).status).toBe(200);
    expect(bed.spec().grants['m-1']).toMatchObject({ state: 'Settled', outcome: 'Succeeded' });
  });

  it('records nothing for a dry run, and begins at once when asked to', async () => {
    const bed = await httpBed();
    expect(await bed.post('/v1/ask', 'alice', { ...ASK, dryRun: true })).toMatchObject({
      body: { granted: true, dryRun: true },
    });
    expect(bed.spec().grants).toEqual({});
    await bed.post('/v1/ask', 'alice', { ...ASK, started: true });
    expect(bed.spec().grants['m-1']?.state).toBe('Started');
  });

  it('R13 refuses to renew or settle a grant of another caller, or with a fence that it did not issue', async () => {
    const bed = await httpBed();
    await bed.post('/v1/ask', 'alice', ASK);
    const before = bed.spec();
    const end = { ...OTHERS, outcome: 'Failed' };
    const answers = [
      await bed.post('/v1/renew', 'mallory', OTHERS),
      await bed.post('/v1/settle', 'mallory', end),
      await bed.post('/v1/settle', 'alice', { ...end, fence: 99 }),
      await bed.post('/v1/renew', 'alice', { ...OTHERS, fence: 99 }),
    ];
    expect(answers.map(text)).toEqual([
      '409 AskInvalid: grant g-1-0 belongs to another holder',
      '409 AskInvalid: grant g-1-0 belongs to another holder',
      '409 AskInvalid: grant g-1-0 has fence 1, not 99',
      '409 AskInvalid: grant g-1-0 has fence 1, not 99',
    ]);
    expect(bed.spec()).toEqual(before);
  });

  it.each([
    ['no token', undefined],
    ['a password', 'Basic YWxpY2U6eA=='],
    ['an empty token', 'Bearer '],
    ['a token with a line break', 'Bearer a\nb'],
    ['a token of 100 kB', `Bearer ${'a'.repeat(100_000)}`],
    ['a token that the server does not accept', 'Bearer unknown'],
    ['a token for another audience', 'Bearer other~3Aalice'],
    ['a token without a user', 'Bearer ~2Csre'],
  ])('answers 401 to %s, and asks the ledger nothing', async (_, authorization) => {
    const bed = await httpBed();
    const answer = await bed.handle({
      method: 'POST',
      path: '/v1/ask',
      authorization,
      address: '10.0.0.1',
      readBody: () => Promise.reject(new Error('the body was read')),
    });
    expect(answer).toMatchObject({
      status: 401,
      body: { reason: 'Unauthorized' },
      headers: { 'www-authenticate': 'Bearer' },
    });
    expect(bed.spec().seq).toBe(0);
  });

  it('answers 403 without the permission, which is asked for with each request', async () => {
    const bed = await httpBed();
    expect((await bed.post('/v1/ask', 'alice', ASK)).status).toBe(200);
    bed.server.forbidden = ['alice grants'];
    expect(text(await bed.post('/v1/renew', 'alice', OTHERS))).toBe(
      '403 Forbidden: alice does not have the permission to create defenderledgers/grants.kubenode.dev',
    );
    expect(bed.reviews).toEqual(['TokenReview', 'SubjectAccessReview', 'SubjectAccessReview']);
  });

  it('asks again for a token after 10 s, so that a revoked one ends', async () => {
    const bed = await httpBed();
    await bed.post('/v1/ask', 'alice', ASK);
    bed.server.revoked = ['alice'];
    await bed.clock.advance(9000);
    expect((await bed.post('/v1/ask', 'alice', ASK)).status).toBe(200);
    await bed.clock.advance(1000);
    expect((await bed.post('/v1/ask', 'alice', ASK)).status).toBe(401);
  });

  it.each([
    ['not JSON', '{', 'the body is not JSON'],
    ['nothing', '', 'the body is not JSON'],
    ['a list', '[]', 'body: must be a map of fields'],
    ['null', 'null', 'body: must be a map of fields'],
    ['no machine', { action: 'Reboot' }, 'machine: is required'],
    ['a holder', { ...ASK, holder: { kind: 'Other', name: 'bob' } }, 'holder: unknown field'],
    ['a recovery', { ...ASK, recovery: true }, 'recovery: unknown field'],
    ['a typing error', { ...ASK, dryrun: true }, 'dryrun: unknown field; did you mean dryRun?'],
    ['a wrong type', { ...ASK, started: 'yes' }, 'started: must be true or false'],
    ['no date', { ...ASK, factsAt: '2030-99-99T00:00:00Z' }, 'factsAt: 2030-99-99T00:00:00Z is not a date'],
    ['a negative time', { ...ASK, expectedSeconds: -1 }, 'expectedSeconds: must be at least 0'],
    [
      'a prototype',
      '{"machine":"m-1","action":"Reboot","__proto__":{"dryRun":true}}',
      '__proto__: unknown field',
    ],
    ['a deep list', `${'['.repeat(8000)}${']'.repeat(8000)}`, 'body: must be a map of fields'],
  ])('answers 400 to %s', async (_, body, message) => {
    const bed = await httpBed();
    expect(text(await bed.post('/v1/ask', 'alice', body))).toBe(`400 BodyInvalid: ${message}`);
    expect(bed.spec().seq).toBe(0);
  });

  it('R13 never answers with a grant, or an internal error, to any body that is not one', async () => {
    const bed = await httpBed({ limits: { perCaller: 1e9, perAddress: 1e9, inFlight: 100 } });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('ask', 'renew', 'settle', 'approve'),
        fc.oneof(fc.json(), fc.string()),
        async (path, body) => {
          expect((await bed.post(`/v1/${path}`, 'alice', body)).status).toBe(400);
        },
      ),
    );
    expect(bed.spec().grants).toEqual({});
  });

  it.each(['TokenReview', 'SubjectAccessReview'] as const)(
    'R13 answers 503 while the API server does not answer a %s, and forgets nothing that it refused',
    async (kind) => {
      const bed = await httpBed();
      bed.server.down = kind;
      const answer = await bed.post('/v1/ask', 'alice', ASK);
      expect(text(answer)).toBe('503 ServerUnavailable: the API server did not answer: nothing was decided');
      expect(answer.headers).toMatchObject({ 'retry-after': '5' });
      bed.server.down = '';
      expect((await bed.post('/v1/ask', 'alice', ASK)).status).toBe(200);
    },
  );

  it('R13 answers 503 when the ledger cannot be written', async () => {
    const failures = Array.from({ length: 5 }, () => ({ code: 'Unreachable', arrives: false }) as const);
    const bed = await httpBed({ failures });
    const denied = await bed.post('/v1/ask', 'alice', ASK);
    expect(denied).toMatchObject({ status: 503, body: { granted: false, reason: 'LedgerUnavailable' } });
    expect(bed.spec().grants).toEqual({});
  });

  it('answers 503 with the leader while another process leads', async () => {
    const bed = await httpBed();
    bed.server.leads = false;
    expect(await bed.post('/v1/ask', 'alice', ASK)).toMatchObject({
      status: 503,
      body: { reason: 'NotLeader', leader: 'replica-2' },
      headers: { 'retry-after': '2' },
    });
  });

  it('limits the requests of each caller alone', async () => {
    const bed = await httpBed({ limits: { perCaller: 1, perAddress: 100, inFlight: 100 } });
    const ask = async (person: string): Promise<number> =>
      (await bed.post('/v1/ask', person, { ...ASK, dryRun: true })).status;
    const batch = [ask('alice'), ask('alice'), ask('alice'), ask('bob')];
    expect(await Promise.all(batch)).toEqual([200, 200, 429, 200]);
    await bed.clock.advance(1000);
    expect(await ask('alice')).toBe(200);
  });

  it('limits the tokens that one address has reviewed, but not those that were reviewed', async () => {
    const bed = await httpBed({ limits: { perCaller: 100, perAddress: 1, inFlight: 100 } });
    const statuses: number[] = [];
    for (const person of ['alice', 'bob', 'eve', 'alice', 'unknown']) {
      statuses.push((await bed.post('/v1/renew', person, OTHERS)).status);
    }
    expect(statuses).toEqual([409, 409, 429, 409, 429]);
    expect(bed.reviews.filter((kind) => kind === 'TokenReview').length).toBe(2);
  });

  it('limits the tokens that are reviewed at the same time, from any address', async () => {
    const bed = await httpBed({ limits: { perCaller: 100, perAddress: 100, inFlight: 100 } });
    const dryRun = { ...ASK, dryRun: true };
    const people = Array.from({ length: 30 }, (_, index) => `person-${index}`);
    const answers = await Promise.all(people.map((person) => bed.post('/v1/ask', person, dryRun)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(20);
    expect(statuses.filter((status) => status === 503).length).toBe(10);
    expect((await bed.post('/v1/ask', 'person-29', dryRun)).status).toBe(200);
  });

  it('limits what is decided at the same time', async () => {
    const bed = await httpBed({ limits: { perCaller: 100, perAddress: 100, inFlight: 1 } });
    const batch = ['alice', 'bob'].map((person) => bed.post('/v1/ask', person, { ...ASK, dryRun: true }));
    expect((await Promise.all(batch)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 503,
    ]);
  });

  it.each([
    ['GET', '/v1/ask', 405],
    ['DELETE', '/v1/ask', 405],
    ['POST', '/', 404],
    ['POST', '/v1/ask/', 404],
    ['POST', '/v1/openapi.json', 405],
    ['GET', '/v1/openapi.json', 200],
  ])('answers %s %s with %i', async (method, path, status) => {
    const bed = await httpBed();
    const request = {
      method,
      path,
      authorization: undefined,
      address: 'a',
      readBody: () => Promise.resolve(''),
    };
    expect((await bed.handle(request)).status).toBe(status);
  });

  describe('approvals', () => {
    const rule = { name: 'wipes', risks: [], onlyLocalData: false, approvers: ['sre'], timeoutSeconds: 60 };
    const policies = [policy({ approval: [{ ...rule, actions: ['WipeDisk'] }] })];
    const holder = { kind: 'Other', name: 'alice' } as const;
    const wipe: LedgerPendingApproval = {
      machine: 'm-1',
      action: 'WipeDisk',
      risk: 'Data',
      holder,
      since: ago(60),
    };
    const yes = { machine: 'm-1', decision: 'Approved', reason: 'backup done' };

    it('R13 grants an act that a member of the group approved, once', async () => {
      const bed = await httpBed({ policies, pending: [wipe] });
      const ask = (): Promise<ApiAnswer> =>
        bed.post('/v1/ask', 'alice', { machine: 'm-1', action: 'WipeDisk' });
      expect(text(await ask())).toContain('409 ApprovalPending');
      expect(await bed.post('/v1/approve', 'bob,sre', yes)).toMatchObject({
        status: 200,
        body: { machine: 'm-1', action: 'WipeDisk', decision: 'Approved', by: 'bob', reason: 'backup done' },
      });
      expect((await ask()).status).toBe(200);
      expect(bed.spec().approvals).toEqual({});
    });

    it('R13 records the answer to an act on a hosted control plane, by its key', async () => {
      const plane = hostedControlPlaneFacts(hostedCluster());
      const act = {
        machine: 'cluster:ci',
        action: 'UpdateControlPlane',
        risk: 'Node',
        holder: { kind: 'Cluster', name: 'ci' },
        since: ago(60),
      } as const;
      const asked = [policy({ approval: [{ ...rule, actions: ['UpdateControlPlane'] }] })];
      const bed = await httpBed({ policies: asked, pending: [act], others: plane ? [plane] : [] });
      const answer = { ...yes, machine: 'cluster:ci' };
      expect(text(await bed.post('/v1/approve', 'bob,dev', answer))).toContain('403 NotApprover');
      expect((await bed.post('/v1/approve', 'bob,sre', answer)).status).toBe(200);
      expect(bed.spec().approvals['cluster:ci']).toMatchObject({ by: 'bob', holderKind: 'Cluster' });
    });

    it.each<[string, string, object, string]>([
      ['a person outside of the group', 'bob,dev', {}, '403 NotApprover: bob is not in a group'],
      [
        'an unknown machine',
        'bob,sre',
        { machine: 'm-99', action: 'WipeDisk', holder },
        '404 UnknownMachine',
      ],
      ['a machine where nothing waits', 'bob,sre', { machine: 'm-2' }, '404 NotFound: no act on machine m-2'],
      ['an act without a rule', 'bob,sre', { action: 'Reboot', holder }, '409 NothingToApprove'],
      ['an empty reason', 'bob,sre', { reason: '' }, '400 BodyInvalid: reason: must not be empty'],
      ['an approval in the name of another', 'bob,dev', { by: 'ann' }, '400 BodyInvalid: by: unknown field'],
    ])('refuses %s', async (_, person, fields, expected) => {
      const bed = await httpBed({ policies, pending: [wipe] });
      expect(text(await bed.post('/v1/approve', person, { ...yes, ...fields }))).toContain(expected);
      expect(bed.spec().approvals).toEqual({});
    });

    it('needs a permission of its own, and answers once', async () => {
      const bed = await httpBed({ policies, pending: [wipe] });
      bed.server.forbidden = ['eve approvals'];
      expect((await bed.post('/v1/approve', 'eve,sre', yes)).status).toBe(403);
      const both = ['ann,sre', 'bob,sre'].map((person) => bed.post('/v1/approve', person, yes));
      const answers = await Promise.all(both);
      expect(answers.map(({ status }) => status)).toEqual([200, 409]);
      expect(answers.map(text)[1]).toContain('409 AlreadyAnswered: it was approved by ann');
      expect((await bed.post('/v1/approve', 'bob,sre', { ...yes, decision: 'Refused' })).status).toBe(200);
    });
  });
});

function text({ status, body }: ApiAnswer): string {
  const { reason, message } = body as { reason: string; message: string };
  return `${status} ${reason}: ${message}`;
}
