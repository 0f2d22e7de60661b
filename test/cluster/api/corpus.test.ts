/** Every object of the corpus on a real API server: what it accepts, what it refuses, where, and in which words. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { crds } from '../../../src/api/install/install.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import { isKubeError, type KubeError } from '../../../src/kube/client/errors.ts';
import { accepted, type Refused, refused } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { type InstalledServer, startInstalledServer } from './installed-server.ts';

let installed: InstalledServer;
let server: ApiServer;

beforeAll(async () => {
  installed = await startInstalledServer(crds());
  server = installed.server;
});
beforeEach(() => server.wipe());
afterAll(() => installed?.stop());

describe('MAC-02 accepts and refuses the objects of the corpus', () => {
  it('has at least 60 accepted and 60 refused objects, and both for every kind', () => {
    const kinds = KINDS.map(({ kind }) => kind).toSorted();
    for (const cases of [accepted(), refused()]) {
      expect(cases.length).toBeGreaterThanOrEqual(60);
      expect([...new Set(cases.map(({ kind }) => kind))].toSorted()).toEqual(kinds);
    }
  });

  it.each(accepted())('accepted: $it', async (written) => {
    await expect(writeCase(server.client, written)).resolves.toMatchObject({ kind: written.kind });
  });

  it.each(refused())('refused: $it', async (written) => {
    // The object must be valid before the update. Otherwise the refusal may have another cause.
    const { update: _update, ...before } = written;
    const error = await refusal(written);
    expect(firstCause(error)).toEqual({ field: written.field, message: written.message });
    if (written.update === undefined) return;
    await server.wipe();
    await writeCase(server.client, before);
  });
});

async function refusal(written: Refused): Promise<KubeError> {
  const error: unknown = await writeCase(server.client, written).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isKubeError(error, 'Invalid')) return error;
  throw new Error(`${written.it} is not refused as invalid`, { cause: error });
}

/** Causes without a field are remarks. An unknown field is named in the message only. */
function firstCause({ causes, message }: KubeError): {
  field: string | undefined;
  message: string | undefined;
} {
  const cause = causes.find(({ field }) => field !== undefined && field !== '<nil>');
  if (cause) return { field: cause.field, message: cause.message };
  const unknown = /unknown field "(?<field>[^"]+)"/.exec(message);
  return { field: unknown?.groups?.['field'], message: unknown?.[0] };
}
