/** Reads the file of an issuer, and the files that it names beside it. */
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseOidcFile } from '../../../console/login/oidc/config.ts';
import { createHttpsFetch } from '../../../console/login/oidc/https-fetch.ts';
import type { Issuer } from '../../../console/login/oidc/issuer.ts';
import { messageOf } from '../../../os/errors.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface NamedIssuer {
  /** The host of the issuer, for the link. */
  readonly name: string;
  readonly client: Issuer;
}

export async function readIssuer(cwd: string, file: string): Promise<NamedIssuer> {
  const path = resolve(cwd, file);
  const { issuer, clientId, clientSecretFile, caFile, scopes } = parseOidcFile(await readText(path), file);
  const beside = async (name: string | undefined): Promise<string | undefined> =>
    name === undefined ? undefined : await readText(join(dirname(path), name));
  const [clientSecret, caPem] = [await beside(clientSecretFile), await beside(caFile)];
  // Loaded only here: most consoles have no use for it.
  const { createIssuer } = await import('../../../console/login/oidc/issuer.ts');
  const fetch = createHttpsFetch(caPem);
  const client = createIssuer({ issuer, clientId, clientSecret: clientSecret?.trim(), scopes, fetch });
  return { name: new URL(issuer).host, client };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`the file cannot be read: ${messageOf(error)}`, {
      where: path,
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}
