import { beforeEach, describe, expect, it } from 'vitest';
import { progressAnswer } from '../../../../../src/controllers/following/clusterapi/extension/answers.ts';
import {
  createExtensionApi,
  type ExtensionApi,
} from '../../../../../src/controllers/following/clusterapi/extension/http.ts';
import { HOOKS_API_VERSION } from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';

const PATH = `/${HOOKS_API_VERSION}/discovery`;
const post = (path: string, text = '{}'): Parameters<ReturnType<typeof createExtensionApi>['handle']>[0] => ({
  method: 'POST',
  path,
  readBody: async () => text,
});

describe('the HTTP side of the update extension', () => {
  let answered: unknown[];
  let api: ExtensionApi;

  beforeEach(() => {
    answered = [];
    api = createExtensionApi({
      answer: async (hook, body) => {
        answered.push([hook, body]);
        return progressAnswer('', 0);
      },
    });
  });

  it('answers hooks that are posted, and nothing else', async () => {
    expect((await api.handle(post('/metrics'))).status).toBe(404);
    expect((await api.handle({ ...post(PATH), method: 'GET' })).status).toBe(405);
    expect((await api.handle(post(PATH, '{"a":1}'))).status).toBe(200);
    expect(answered).toEqual([['Discovery', { a: 1 }]]);
  });

  it('answers Failure to a body that is not JSON, which Cluster API shows', async () => {
    expect(await api.handle(post(PATH, 'no'))).toMatchObject({ status: 200, body: { status: 'Failure' } });
  });

  it('answers a bounded number of requests at a time, and more when they end', async () => {
    const held = Promise.withResolvers<string>();
    const open = Array.from({ length: 32 }, () =>
      api.handle({ ...post(PATH), readBody: () => held.promise }),
    );
    expect((await api.handle(post(PATH))).status).toBe(429);
    held.resolve('{}');
    await Promise.all(open);
    expect((await api.handle(post(PATH))).status).toBe(200);
  });

  it('frees the place of a body that is never complete', async () => {
    const broken = { ...post(PATH), readBody: () => Promise.reject(new Error('closed')) };
    for (let index = 0; index < 40; index += 1) await expect(api.handle(broken)).rejects.toThrow('closed');
    expect((await api.handle(post(PATH))).status).toBe(200);
  });
});
