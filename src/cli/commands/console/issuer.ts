/** Reads the file of an issuer, and the files that it names beside it. */
import { dirname, join } from 'node:path';
import { parseOidcFile } from '../../../console/login/oidc/config.ts';
import { createHttpsFetch } from '../../../console/login/oidc/https-fetch.ts';
import type { Issuer } from '../../../console/login/oidc/issuer.ts';
import { readTextFile } from './text-file.ts';

export interface NamedIssuer {
  /** The host of the issuer, for the link. */
  readonly name: string;
  readonly client: Issuer;
}

export async function readIssuer(cwd: string, file: string): Promise<NamedIssuer> {
  const text = await readTextFile(cwd, file);
  const { issuer, clientId, clientSecretFile, caFile, scopes } = parseOidcFile(text, file);
  const beside = async (name: string | undefined): Promise<string | undefined> =>
    name === undefined ? undefined : await readTextFile(cwd, join(dirname(file), name));
  const [clientSecret, caPem] = [await beside(clientSecretFile), await beside(caFile)];
  // Loaded only here: most consoles have no use for it.
  const { createIssuer } = await import('../../../console/login/oidc/issuer.ts');
  const fetch = createHttpsFetch(caPem);
  const client = createIssuer({ issuer, clientId, clientSecret: clientSecret?.trim(), scopes, fetch });
  return { name: new URL(issuer).host, client };
}
