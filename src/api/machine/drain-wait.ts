/** Where the agent and the controllers agree about a component that waits for the drain of its machine. No npm package here. */

/** Reason of `status.components.waiting`. The state of the component is then `WaitingForDrain`. */
export const DRAIN_PENDING = 'DrainPending';
