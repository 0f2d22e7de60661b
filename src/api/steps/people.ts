/** Steps that notify people or workloads, or wait for an answer. */
import { choice, flag, int, message, name } from '../schema.ts';
import { step } from './step.ts';

export const notify = step(
  'Notify',
  'Sends a signal to the owner of the rule or to the workloads of the node.',
  { risk: 'None', executor: 'Central' },
  {
    signal: name('Name of the signal, such as checkpoint-now.'),
    to: choice('Who receives it.', ['Owner', 'Workloads']).default('Owner'),
    leadTimeSeconds: int('Time that receivers have before the next step begins.', [0, 86_400]).default(0),
    message: message('Text of the notification.').optional(),
  },
);

export const requestApproval = step(
  'RequestApproval',
  'Waits until a member of the approver groups of the DefenderPolicy approves or refuses with `kubenode defender approve|refuse`.',
  { risk: 'None', executor: 'Central' },
  {
    message: message('What the person is asked.').optional(),
  },
);

export const handOff = step(
  'HandOff',
  'Ends the case at a person: sets the condition NeedsPerson of the Machine.',
  { risk: 'None', executor: 'Central' },
  {
    queue: name('Queue that receives the case. Default: spec.owner.team of the rule.').optional(),
    severity: choice('How urgent the case is.', ['ticket', 'page']).default('ticket'),
    vendorCase: flag('Whether to open a case with the hardware vendor too.').default(false),
  },
);
