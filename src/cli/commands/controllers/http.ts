/** The options of the HTTP API of the Defender, and its start. */
import { type Command, InvalidArgumentError } from 'commander';
import { AUDIENCE_DEFENDER } from '../../../api/names.ts';
import type { Defender } from '../../../defender/defender.ts';
import { createHttpApi } from '../../../defender/http/api.ts';
import { type HttpServer, startHttpServer } from '../../../defender/http/server.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { CliError, EXIT } from '../../errors.ts';
import { createIntegerParser } from '../../option-parsers.ts';

export interface HttpFlags {
  readonly defenderPort?: number;
  readonly defenderHost: string;
  readonly defenderCert?: string;
  readonly defenderKey?: string;
  readonly defenderAudience?: readonly string[];
}

export function addHttpOptions(command: Command): Command {
  return command
    .option(
      '--defender-port <n>',
      'port for the HTTP API of the Defender; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--defender-host <address>', 'address for --defender-port to listen on', '127.0.0.1')
    .option('--defender-cert <file>', 'certificate of the HTTP API, PEM; read again when it changes')
    .option('--defender-key <file>', 'private key of the HTTP API, PEM')
    .option(
      '--defender-audience <name>',
      `audience that a token must be issued for; may be repeated (default: ${AUDIENCE_DEFENDER})`,
      addAudience,
    );
}

function addAudience(name: string, before: readonly string[] = []): readonly string[] {
  if (name === '') throw new InvalidArgumentError('Expected a name.');
  return [...before, name];
}

export interface HttpParts {
  readonly defender: Defender;
  /** As kubenode-defender, which may review tokens. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly leads: () => boolean;
  readonly leader: () => string | undefined;
}

/** Undefined without a port. */
export async function startHttp(flags: HttpFlags, parts: HttpParts): Promise<HttpServer | undefined> {
  const files = filesOf(flags);
  if (!files) return undefined;
  const { clock, log } = parts;
  const api = createHttpApi({ ...parts, audiences: flags.defenderAudience ?? [AUDIENCE_DEFENDER] });
  const { port, ...certificate } = files;
  const server = await startHttpServer({
    certificate,
    port,
    api,
    host: flags.defenderHost,
    clock,
    log,
  }).catch(explainCertificate);
  log.info('HTTP API of the Defender started', { url: server.url });
  return server;
}

/** Its files are not those of a kubeconfig. */
function explainCertificate(error: unknown): never {
  if (!isKubeError(error, 'Credentials')) throw error;
  throw new CliError(`certificate of the HTTP API: ${error.message}`, {
    hint: 'check --defender-cert and --defender-key; docs/guides/http-api.md shows how to get a certificate',
    exitCode: EXIT.badInput,
    cause: error,
  });
}

/** Undefined: no HTTP API. There is none without TLS, because the requests carry tokens. */
export function filesOf({
  defenderPort: port,
  defenderCert: certFile,
  defenderKey: keyFile,
}: Partial<HttpFlags>):
  | { readonly port: number; readonly certFile: string; readonly keyFile: string }
  | undefined {
  const files = [certFile, keyFile].flatMap((file) => file ?? []);
  if (port === undefined && files.length === 0) return undefined;
  if (port !== undefined && certFile !== undefined && keyFile !== undefined) {
    return { port, certFile, keyFile };
  }
  throw new CliError('the HTTP API needs --defender-port, --defender-cert and --defender-key', {
    hint: 'pass all three, or none of them; docs/guides/http-api.md shows how to get a certificate',
    exitCode: EXIT.usage,
  });
}
