// An agent framework's MCP client, driven by a model that calls what the job says
// and then stops: the framework turns the tool list into its own tools, routes
// the calls and feeds the results back, as it does for a real model.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const job = JSON.parse(process.argv[2]);
const client = await createMCPClient({
  transport: new Stdio({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' }),
});
const tools = await client.tools();
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
let step = 0;
const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const call = job.calls[step++];
    return call
      ? {
          content: [{ type: 'tool-call', toolCallId: `c${step}`, toolName: call.name, input: JSON.stringify(call.arguments ?? {}) }],
          finishReason: { unified: 'tool-calls' }, usage, warnings: [],
        }
      : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
  },
});
const run = await generateText({ model, tools, prompt: 'Do the task.', stopWhen: isStepCount(job.calls.length + 1) });
const results = run.steps.flatMap((s) => s.toolResults.map((r) => r.output));
await client.close();
process.stdout.write(JSON.stringify({ tools: Object.keys(tools).map((name) => ({ name })), results }));
