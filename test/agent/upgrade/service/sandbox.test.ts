import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sandboxFolders } from '../../../../src/agent/host/sandbox/folders.ts';
import { AGENT_COMPONENT } from '../../../../src/agent/layout.ts';
import { createSandboxService } from '../../../../src/agent/upgrade/service/sandbox.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { agentUpgrade } from '../../../support/agent/upgrades.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('the agent as a process of a sandbox', () => {
  it('AGT-16 reports no secret that the failed agent printed', async () => {
    const directory = tempFolder('sandbox-service');
    const logFile = sandboxFolders(directory).logFile(AGENT_COMPONENT);
    mkdirSync(dirname(logFile), { recursive: true });
    writeFileSync(logFile, `login with Bearer ${'s3cr3t'.repeat(20)}\nno answer\n`);
    const service = createSandboxService(directory, agentUpgrade(), createSystemClock());
    expect(await service.logTail(700)).toBe('login with Bearer ***\nno answer\n');
    expect(await service.logTail(20)).toBe('earer ***\nno answer\n'.slice(-20));
  });
});
