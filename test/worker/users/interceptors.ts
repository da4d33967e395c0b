import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';

/** Marks what the user's and our workflows return. */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        const result = await next(input);
        return typeof result === 'object' ? { ...result, intercepted: workflowInfo().workflowType } : result;
      },
    },
  ],
});
