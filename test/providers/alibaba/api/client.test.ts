import { describe, expect, it, onTestFinished } from 'vitest';
import { createAlibabaApi, parseApiAnswer } from '../../../../src/providers/alibaba/api/client.ts';
import type { AlibabaCredentials } from '../../../../src/providers/alibaba/credentials/temporary.ts';
import { createFastClock } from '../../../support/fast-clock.ts';
import { NEVER } from '../../contract/harness.ts';
import { startEcsServer } from '../server/server.ts';

const RULES = { lost: 'Retryable', now: new Date('2030-01-01T00:00:00Z') } as const;

function answer(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Parameters<typeof parseApiAnswer>[0] {
  return { status, body, headers: new Headers(headers) };
}

/** As the page "Troubleshoot issues based on API error codes" prints it. */
const NOT_FOUND = `{
  "RequestId": "81EF1E7D-0D15-5CAF-B602-3487FAFA88D5",
  "HostId": "ecs.cn-hangzhou.aliyuncs.com",
  "Code": "InvalidInstanceId.NotFound",
  "Message": "The specified InstanceId does not exist.",
  "Recommend": "https://api.aliyun.com/troubleshoot?q=InvalidInstanceId.NotFound&product=Ecs"
}`;

describe('parseApiAnswer', () => {
  it('returns the JSON of a success', () => {
    expect(
      parseApiAnswer(answer(200, '{"RequestId":"1C488B66-B819-4D14-8711-C4EAAA13AC01"}'), RULES),
    ).toEqual({
      RequestId: '1C488B66-B819-4D14-8711-C4EAAA13AC01',
    });
  });

  it.each([
    ['the login page of a proxy', 200, '<html>'],
    ['an empty body', 200, ''],
    ['a list', 200, '[]'],
    ['half of the JSON', 200, '{"Instances":{"Instance":['],
    ['a redirect', 302, ''],
  ])('takes %s for no answer: it must not look like an empty list', (_, status, body) => {
    expect(() => parseApiAnswer(answer(status, body), RULES)).toThrow(`the answer with status ${status}`);
  });

  it('throws the documented error with its code', () => {
    expect(() => parseApiAnswer(answer(404, NOT_FOUND), RULES)).toThrow(
      expect.objectContaining({ code: 'NotFound', reason: 'InvalidInstanceIdNotFound' }) as Error,
    );
  });

  it('throws an error without a code by its status', () => {
    const rules = { ...RULES, lost: 'Ambiguous' } as const;
    expect(() => parseApiAnswer(answer(503, 'Bad Gateway'), rules)).toThrow(
      expect.objectContaining({ code: 'Ambiguous' }) as Error,
    );
  });

  it('tells how long to wait', () => {
    const throttled = answer(400, '{"Code":"Throttling.User","Message":"m"}', { 'retry-after': '7' });
    expect(() => parseApiAnswer(throttled, RULES)).toThrow(
      expect.objectContaining({ code: 'Retryable', retryAfterSeconds: 7 }) as Error,
    );
  });
});

describe('createAlibabaApi', () => {
  it.each<[name: string, key: AlibabaCredentials, forgotten: number]>([
    ['forgets credentials that are refused', { accessKeyId: 'other', accessKeySecret: 'x' }, 1],
    ['keeps credentials that are accepted', { accessKeyId: 'LTAI5test', accessKeySecret: 'test-secret' }, 0],
  ])('%s', async (_, key, expected) => {
    const server = await startEcsServer();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const forgotten: AlibabaCredentials[] = [];
    const credentials = {
      get: () => Promise.resolve(key),
      forget: (refused: AlibabaCredentials) => {
        forgotten.push(refused);
      },
    };
    const options = { endpoint: server.url, version: '2014-05-26', credentials, timeoutMs: 200_000 };
    const api = createAlibabaApi({ ...options, clock: createFastClock() });
    await api.call('DeleteInstance', { InstanceId: 'i-1' }, NEVER).catch(() => undefined);
    expect(forgotten).toHaveLength(expected);
  });
});
