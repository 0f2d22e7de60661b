import { describe, expect, it } from 'vitest';
import { NEVER } from '../../contract/harness.ts';
import { jsonAnswer } from '../server/refusal.ts';
import { openArmApi } from './arm-api.ts';

const GET = { method: 'GET', path: '/subscriptions/1', query: { 'api-version': 'v' } } as const;

describe('createArmApi', () => {
  it('sends the token in a header, and the body as JSON', async () => {
    const { api, server } = await openArmApi(() => jsonAnswer(201, { name: 'a' }));
    const answer = await api.send(
      { ...GET, method: 'PUT', headers: { 'if-none-match': '*' }, body: { a: 1 } },
      NEVER,
    );
    expect([answer.status, answer.json]).toEqual([201, { name: 'a' }]);
    expect(server.requests).toMatchObject([
      {
        path: '/subscriptions/1?api-version=v',
        body: '{"a":1}',
        headers: {
          authorization: 'Bearer secret-token',
          'if-none-match': '*',
          'content-type': 'application/json',
        },
      },
    ]);
  });

  it('follows an address of its own server as it is', async () => {
    const { api, server } = await openArmApi(() => jsonAnswer(200, {}));
    await api.send({ method: 'GET', path: `${server.url}/next?api-version=v&$skiptoken=3` }, NEVER);
    expect(server.requests[0]?.path).toBe('/next?api-version=v&$skiptoken=3');
  });

  it.each([
    'https://example.com/next',
    'http://127.0.0.1:1/next',
    '//example.com/x',
    'file:///etc/passwd',
    'http://',
  ])('does not send the token to %s, which an answer may name', async (path) => {
    const { api, server } = await openArmApi(() => jsonAnswer(200, {}));
    await expect(api.send({ method: 'GET', path }, NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'BadAnswer',
    });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['a login page', { status: 200, headers: {}, body: '<html>' }],
    ['a list', { status: 200, headers: {}, body: '[]' }],
    ['nothing', { status: 200, headers: {}, body: '' }],
    ['a redirect', { status: 302, headers: { location: 'https://example.com' }, body: '{}' }],
  ])('does not take %s for an answer of Azure', async (_, answer) => {
    const { api } = await openArmApi(() => answer);
    await expect(api.send(GET, NEVER)).rejects.toMatchObject({ code: 'Retryable', reason: 'Unreachable' });
    await expect(api.send({ ...GET, lost: 'Ambiguous' }, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
  });

  it.each([
    ['DELETE', 204],
    ['DELETE', 200],
    ['POST', 202],
  ] as const)('takes an answer to %s with the status %i and no body', async (method, status) => {
    const { api } = await openArmApi(() => ({ status, headers: {}, body: '' }));
    expect(await api.send({ ...GET, method }, NEVER)).toMatchObject({ status, json: {} });
  });

  it('returns a status of an error that is expected', async () => {
    const { api } = await openArmApi(() => jsonAnswer(412, { error: { code: 'PreconditionFailed' } }));
    expect((await api.send({ ...GET, expected: 412 }, NEVER)).status).toBe(412);
    await expect(api.send(GET, NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'PreconditionFailed',
    });
  });

  it.each([
    [401, 1],
    [403, 0],
    [500, 0],
  ])('asks for another token after %i: %i', async (status, count) => {
    const { api, forgotten } = await openArmApi(() =>
      jsonAnswer(status, { error: { code: 'X', message: 'y' } }),
    );
    await expect(api.send(GET, NEVER)).rejects.toThrow('X: y');
    expect(forgotten).toHaveLength(count);
  });

  it('names the status of an error that has no code', async () => {
    const { api } = await openArmApi(() => ({ status: 502, headers: {}, body: 'Bad gateway' }));
    await expect(api.send(GET, NEVER)).rejects.toMatchObject({ code: 'Retryable', reason: 'Status502' });
  });
});
