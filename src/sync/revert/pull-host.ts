/** Finds and creates the pull request of a revert at the git host. An answer that is an error rejects with HostCallError. */
import { listed } from '../pulls/hosts/adapter.ts';
import { createHostCall, type HostCallPorts, parsedAnswer } from '../report/call.ts';
import { type HostTask, isDone } from '../report/outcome.ts';
import type { StatusTarget } from '../report/target.ts';
import type { PullRequestPage } from './plan.ts';
import { type PullBranches, type PullText, pullIn, REVERT_PULL_ADAPTERS } from './pull-requests.ts';

export interface RevertPullHost {
  /** Finds the pull request, also if a person has closed it. */
  find(branches: PullBranches): Promise<PullRequestPage | undefined>;
  create(text: PullText): Promise<PullRequestPage>;
}

export function createRevertPullHost(target: StatusTarget, ports: HostCallPorts): RevertPullHost {
  const { type } = target.project;
  const adapter = REVERT_PULL_ADAPTERS[type];
  const call = createHostCall(target, ports);
  const { permission } = adapter;
  const common = { permission, secret: 'writeCredentialsRef' };
  const read: HostTask = { ...READ, ...common };
  const created: HostTask = {
    ...CREATE,
    ...common,
    isAccepted: (answer) => isDone(answer) && adapter.pageOf(parsedAnswer(answer.body)) !== undefined,
  };
  return {
    async find(branches) {
      const { body } = await call((access) => listed(adapter.findRequest(access, branches)), read);
      return pullIn(type, parsedAnswer(body), branches);
    },
    async create(text) {
      const { body } = await call((access) => adapter.createRequest(access, text), created);
      const page = adapter.pageOf(parsedAnswer(body));
      if (!page) throw new Error('the git host created a pull request without a number');
      return page;
    },
  };
}

const READ: Omit<HostTask, 'permission'> = {
  act: 'read the pull requests',
  what: 'the request for pull requests',
  retry: 'asks again',
  isAccepted: ({ status, body }) => status === 200 && Array.isArray(parsedAnswer(body)),
};

const CREATE: Omit<HostTask, 'permission' | 'isAccepted'> = {
  act: 'create pull requests',
  what: 'the pull request of a revert',
  retry: 'tries again',
};
