/** Reads the options of `kubenode controllers` for the providers of clouds. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CloudProviderOptions } from '../../../providers/cloud/options.ts';
import { CLOUDS, type Cloud } from '../../../providers/registry.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { parseAgentSha256, parseAgentUrl } from '../../option-parsers.ts';

export interface CloudFlags {
  readonly provider?: readonly Cloud[];
  readonly agentUrl?: string;
  readonly agentSha256?: string;
}

export function addCloudOptions(command: Command): Command {
  return command
    .option(`--provider <name>`, `create machines in this cloud: ${CLOUDS.join(', ')}; repeatable`, addCloud)
    .option('--agent-url <url>', 'where new hosts download the program of the agent', parseAgentUrl)
    .option('--agent-sha256 <hex>', 'SHA-256 of what --agent-url serves', parseAgentSha256);
}

/** Returns the options; undefined without the flag of this cloud. */
export function readCloudOptions(
  { clock, env }: Io,
  flags: CloudFlags,
  cloud: Cloud,
): CloudProviderOptions | undefined {
  const { provider: clouds = [], agentUrl: url, agentSha256: sha256 } = flags;
  if (!clouds.includes(cloud)) return undefined;
  if (url === undefined || sha256 === undefined) {
    throw new CliError(`--provider ${cloud} needs the program that new hosts download`, {
      exitCode: EXIT.usage,
      hint: 'add --agent-url and --agent-sha256',
    });
  }
  return { clock, env, agent: { url, sha256 } };
}

function addCloud(text: string, before: readonly Cloud[] = []): readonly Cloud[] {
  const cloud = CLOUDS.find((each) => each === text);
  if (cloud) return [...before, cloud];
  throw new InvalidArgumentError(`Expected ${CLOUDS.join(' or ')}.`);
}
