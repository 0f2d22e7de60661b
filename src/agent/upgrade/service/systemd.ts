/** The agent as a unit of systemd, which starts the program behind a link. Units of components are not touched. */
import { readProcessIdentity } from '../../../os/process/identity.ts';
import { readResidentBytes } from '../../../os/process/table.ts';
import { HostError } from '../../host/errors.ts';
import { cleanLogTail } from '../../host/log-tail.ts';
import type { HostFiles } from '../../host/port.ts';
import { failureText, type RunCommand } from '../../host/systemd/commands.ts';
import { AGENT_PROGRAM_LINK } from '../../layout.ts';
import type { AgentService } from './port.ts';

export const AGENT_UNIT = 'kubenode-agent.service';

export function createSystemdService(files: Pick<HostFiles, 'link'>, run: RunCommand): AgentService {
  async function systemctl(...args: readonly string[]): Promise<void> {
    const answer = await run(['systemctl', ...args]);
    if (answer.exitCode === 0) return;
    const what = `systemctl ${args.join(' ')} failed: ${failureText(answer)}`;
    throw new HostError('UnitFailed', what, { where: AGENT_UNIT });
  }

  return {
    async running() {
      const { stdout } = await run(['systemctl', 'show', '--property=MainPID', '--value', AGENT_UNIT]);
      const identity = Number(stdout) > 0 ? await readProcessIdentity(Number(stdout)) : undefined;
      const residentBytes = identity && (await readResidentBytes(identity.pid));
      if (!identity || residentBytes === undefined) return undefined;
      return { pid: identity.pid, startId: identity.startTicks, residentBytes };
    },
    stop: () => systemctl('stop', AGENT_UNIT),
    async start(program) {
      await files.link(AGENT_PROGRAM_LINK, program);
      await systemctl('start', AGENT_UNIT);
    },
    async logTail(maxBytes) {
      const { stdout } = await run(['journalctl', '--unit', AGENT_UNIT, '--lines=20', '--output=cat']);
      return cleanLogTail(Buffer.from(stdout), maxBytes);
    },
  };
}
