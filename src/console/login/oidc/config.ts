/** Reads the file of `kubenode console --oidc`: the issuer at which people sign in, and the client that the console is there. */
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf, OsError } from '../../../os/errors.ts';

const fileName = z.string().regex(/^[\w.-]+$/, 'expected the name of a file beside this one');

const oidcFile = z.strictObject({
  /** As the API server knows it, word for word. */
  issuer: z
    .url({ protocol: /^https$/, error: 'expected an https URL' })
    .refine((text) => !/[?#]/.test(text), 'expected a URL without query'),
  clientId: z.string().min(1, 'expected the id of the client'),
  /** Absent: a public client. */
  clientSecretFile: fileName.optional(),
  /** The authority of the certificate of the issuer. Absent: those of the system. */
  caFile: fileName.optional(),
  /** Asks the issuer for more claims, such as groups, or with `offline_access` for renewals. */
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'expected the name of a scope'))
    .default([]),
});

export type OidcFile = Readonly<z.infer<typeof oidcFile>>;

export function parseOidcFile(text: string, where: string): OidcFile {
  const { data, error } = oidcFile.safeParse(parsed(text, where));
  if (data) return data;
  const [issue] = error.issues;
  throw invalid(where, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`, error);
}

function parsed(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw invalid(where, messageOf(error), error);
  }
}

function invalid(where: string, problem: string, cause: unknown): OsError {
  return new OsError('BadInput', `the file of the issuer is not valid: ${problem}`, {
    where,
    hint: 'docs/guides/console-login.md has an example',
    cause,
  });
}
