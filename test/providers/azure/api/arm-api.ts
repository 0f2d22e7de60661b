/** The client of Azure Resource Manager with a server that gives one answer. */
import { onTestFinished } from 'vitest';
import { type ArmApi, createArmApi } from '../../../../src/providers/azure/api/client.ts';
import type { AccessToken } from '../../../../src/providers/azure/credentials/access-token.ts';
import { createFastClock } from '../../../support/fast-clock.ts';
import { type CloudAnswer, type CloudProxy, startCloudProxy } from '../../cloud/cloud-proxy.ts';

export interface OpenArmApi {
  readonly api: ArmApi;
  readonly server: CloudProxy;
  readonly forgotten: readonly AccessToken[];
}

const TOKEN = { token: 'secret-token', expiresAt: new Date('2040-01-01') };

export async function openArmApi(answer: () => CloudAnswer, clock = createFastClock()): Promise<OpenArmApi> {
  const server = await startCloudProxy(() => Promise.resolve(answer()));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const forgotten: AccessToken[] = [];
  const tokens = {
    get: () => Promise.resolve(TOKEN),
    forget: (token: AccessToken) => void forgotten.push(token),
  };
  return {
    api: createArmApi({ endpoint: server.url, tokens, clock, timeoutMs: 200_000 }),
    server,
    forgotten,
  };
}
